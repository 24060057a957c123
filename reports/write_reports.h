#pragma once

#include <string>

#include "base/result.h"
#include "verdict/cell.h"

namespace jitrace {

// Writes report.json, junit.xml, summary.md, annotations.txt (GitHub workflow commands) and report.txt into
// `directory`, each whole or not at all. Called again after every cell, since a later one may fail.
Result<void> write_reports(const Report& report, const std::string& directory);

}  // namespace jitrace
