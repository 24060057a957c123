#include "e2e/read_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"

namespace jitrace::test {

nlohmann::json read_report(const std::string& run_dir) {
  const auto text = read_file(join(run_dir, "report.json"));
  if (!text) {
    ADD_FAILURE() << text.error().message();
    return nlohmann::json::object();
  }
  nlohmann::json report = nlohmann::json::parse(*text, nullptr, false);
  if (report.is_discarded()) ADD_FAILURE() << "no JSON: " << *text;
  return report;
}

nlohmann::json cell_of(const nlohmann::json& report, const std::string& id) {
  for (const nlohmann::json& cell : report.at("cells")) {
    if (cell.at("id").get<std::string>().starts_with(id)) return cell;
  }
  ADD_FAILURE() << "no cell " << id << " in " << report.dump(1);
  return nlohmann::json::object();
}

}  // namespace jitrace::test
