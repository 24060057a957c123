#include <nlohmann/json.hpp>

#include "process/wait_status.h"
#include "reports/escape.h"
#include "reports/matrix.h"
#include "reports/matrix_groups.h"

namespace jitrace {
namespace {

using Json = nlohmann::ordered_json;

Json text(std::string_view value) { return valid_utf8(value); }
Json text_or_null(std::string_view value) { return value.empty() ? Json(nullptr) : text(value); }

Json texts(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(text(value));
  return list;
}

Json cell_json(const SweepCell& cell) {
  Json json = {{"end", name_of(cell.end)},
               {"poisoned", cell.poisoned},
               {"recovery_ms", cell.end == SweepEnd::recovered ? Json(to_ms(cell.recovery)) : Json(nullptr)},
               {"detail", text_or_null(cell.detail)},
               {"left", texts(cell.left)},
               {"replay", text_or_null(cell.replay)},
               {"confirmed", text_or_null(cell.confirmed)}};
  if (cell.replayed) json["replayed"] = true;
  if (cell.processes != SweepProcesses::fresh) json["processes"] = name_of(cell.processes);
  return json;
}

Json row_json(const SweepRow& row) {
  Json cells = Json::object();
  for (const auto& [column, cell] : row.cells) cells[std::string(name_of(column))] = cell_json(cell);
  return {{"step", text(row.step)}, {"points", row.points}, {"cells", cells}};
}

Json unmet_json(const SweepUnmet& unmet) {
  return {{"step", text(unmet.step)},
          {"row", unmet.row ? Json(*unmet.row) : Json(nullptr)},
          {"fault", unmet.fault ? Json(*unmet.fault) : Json(nullptr)},
          {"column", unmet.column ? Json(name_of(*unmet.column)) : Json(nullptr)},
          {"expected", text(unmet.expected)},
          {"seen", text(unmet.seen)}};
}

Json group_json(const SweepMatrix& matrix, const MatrixGroup& group) {
  Json cells = Json::object();
  for (const auto& [column, cell] : group.cells) {
    const bool recovered = cell.end == SweepEnd::recovered;
    cells[std::string(name_of(column))] = {
        {"end", name_of(cell.end)},
        {"poisoned", cell.poisoned},
        {"recovery_ms", recovered ? Json{{"min", to_ms(cell.shortest)}, {"max", to_ms(cell.longest)}} : Json(nullptr)}};
  }
  Json findings = Json::array();
  for (const ToldFinding& finding : findings_of(matrix, group)) {
    Json columns = Json::array();
    for (const SweepColumn column : finding.columns) columns.push_back(name_of(column));
    Json left = Json::object();
    for (const auto& [item, cells_with_it] : finding.left) left[valid_utf8(item)] = cells_with_it;
    findings.push_back({{"end", name_of(finding.cell->end)},
                        {"detail", text_or_null(finding.cell->detail)},
                        {"columns", columns},
                        {"cells", finding.cells},
                        {"left", left},
                        {"first", text(finding.row->step)},
                        {"replay", text_or_null(finding.cell->replay)}});
  }
  return {{"from", text(group.from)}, {"to", text(group.to)},   {"first_row", group.first}, {"last_row", group.last},
          {"points", group.points},   {"cells", cells},         {"findings", findings}};
}

}  // namespace

std::string render_matrix_json(const SweepMatrix& matrix) {
  const MatrixCounts counts = count(matrix);
  Json json;
  json["schema"] = 1;
  json["subject"] = text(matrix.subject);
  json["verdict"] = name_of(verdict_of(matrix));
  json["cache"] = {{"dir", text(matrix.cache)}, {"fs", text(matrix.file_system)}};
  json["machine"] = Json::object();
  for (const auto& [name, value] : matrix.machine) json["machine"][valid_utf8(name)] = text(value);
  json["recording"] = {{"calls", matrix.calls},
                       {"counted", matrix.counted ? Json(*matrix.counted) : Json(nullptr)},
                       {"miscounted", texts(matrix.miscounted)},
                       {"asked_again", texts(matrix.asked_again)},
                       {"changes", matrix.changes},
                       {"processes", matrix.processes},
                       {"signal", name_of_signal(matrix.signal)},
                       {"ms", to_ms(matrix.recorded)}};
  json["took_ms"] = to_ms(matrix.took);
  json["hang_proof"] = {{"virtual_hours", matrix.virtual_hours}, {"unchanged_polls", matrix.unchanged_polls}};
  json["summary"] = {{"cells", counts.cells}, {"findings", counts.findings}, {"poisoned", counts.poisoned}};
  for (int i = 0; i <= static_cast<int>(SweepEnd::not_run); ++i) {
    const auto end = static_cast<SweepEnd>(i);
    json["summary"][std::string(name_of(end))] = counts.ends.contains(end) ? counts.ends.at(end) : 0;
  }
  json["beside"] = texts(matrix.beside);
  json["varying"] = texts(matrix.varying);
  json["downgrades"] = texts(shortfalls(matrix));
  if (matrix.unmet) {
    json["unmet"] = Json::array();
    for (const SweepUnmet& unmet : *matrix.unmet) json["unmet"].push_back(unmet_json(unmet));
  }
  json["groups"] = Json::array();
  for (const MatrixGroup& group : groups_of(matrix)) json["groups"].push_back(group_json(matrix, group));
  json["rows"] = Json::array();
  for (const SweepRow& row : matrix.rows) json["rows"].push_back(row_json(row));
  json["faults"] = Json::array();
  for (const SweepFault& fault : matrix.faults) {
    json["faults"].push_back(
        {{"step", text(fault.step)}, {"fault", text(fault.fault)}, {"calls", fault.calls}, {"cell", cell_json(fault.cell)}});
  }
  return json.dump(2) + "\n";
}

}  // namespace jitrace
