#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace jitrace::test {

// report.json of a run directory; a test failure and an empty object if it cannot be read.
nlohmann::json read_report(const std::string& run_dir);
// The cell whose id starts with this.
nlohmann::json cell_of(const nlohmann::json& report, const std::string& id);

}  // namespace jitrace::test
