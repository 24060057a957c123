#pragma once

#include <string>

#include "base/result.h"
#include "plan/sweep_matrix.h"
#include "reports/console.h"

namespace jitrace {

// What a person reads: a line per run of rows that ended alike, then the findings with evidence and replay command,
// what was left, what could not be followed and what was not run, and the bounds. Lines as in render_console.
std::string render_matrix_console(const SweepMatrix& matrix, const ConsoleOptions& options = {});

// sweep.json: schema 1. Every row, and the groups that the console shows. Times are milliseconds. `unmet` is
// there if a scenario promised something.
std::string render_matrix_json(const SweepMatrix& matrix);

// A suite "sweep": a case per row and column, and one that says whether every call was followed and counted.
// Failures are findings, or, where a scenario promised something, what is not as promised.
std::string render_matrix_junit(const SweepMatrix& matrix);

// For $GITHUB_STEP_SUMMARY; the groups only, and never longer than GitHub takes.
std::string render_matrix_markdown(const SweepMatrix& matrix);

// Writes sweep.json, junit.xml, summary.md and report.txt into `directory`, each whole or not at all.
Result<void> write_matrix_reports(const SweepMatrix& matrix, const std::string& directory);

}  // namespace jitrace
