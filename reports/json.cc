#include "reports/json.h"

#include <nlohmann/json.hpp>

#include "reports/escape.h"
#include "reports/phrases.h"

namespace jitrace {
namespace {

using Json = nlohmann::ordered_json;

Json text(std::string_view value) { return valid_utf8(value); }

Json texts(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(text(value));
  return list;
}

Json counts(const std::map<std::string, int>& values) {
  Json object = Json::object();
  for (const auto& [name, count] : values) object[valid_utf8(name)] = count;
  return object;
}

Json spread_json(const Spread& spread) {
  // What nobody reached has no number.
  const auto number = [&](double value) { return spread.n == 0 ? Json(nullptr) : Json(value); };
  return {{"n", spread.n},
          {"unrecovered", spread.unrecovered},
          {"p50", number(spread.p50)},
          {"p95", number(spread.p95)},
          {"max", number(spread.max)}};
}

Json fault_json(const std::optional<FaultPlan>& fault) {
  if (!fault) return nullptr;
  Json json;
  json["who"] = name_of(fault->who);
  json["index"] = fault->index;
  json["point"] = fault->point == Point::none ? Json(nullptr) : Json(name_of(fault->point));
  json["kind"] = name_of(fault->kind);
  json["occurrence"] = fault->occurrence;
  json["order"] = fault->order == OrphanOrder::none ? Json(nullptr) : Json(name_of(fault->order));
  json["signal"] = fault->kind == FaultKind::kill ? Json(fault->signal) : Json(nullptr);
  json["random"] = fault->at_random;
  json["words"] = text(describe(*fault));
  return json;
}

Json finding_json(const Finding& finding) {
  return {{"class", name_of(finding.kind)},
          {"cause", text(finding.cause)},
          {"trial", finding.trial},
          {"round", finding.round},
          {"slot", finding.slot == driver_slot ? Json(nullptr) : Json(finding.slot)},
          {"key", finding.key},
          {"evidence", texts(finding.evidence)}};
}

Json cell_json(const Cell& cell) {
  Json json;
  json["id"] = text(cell.id);
  json["strategy"] = text(cell.strategy);
  json["run"] = text(cell.run);
  json["toolchain"] = text(cell.toolchain);
  json["arch"] = text(cell.arch);
  json["loader"] = text(cell.loader);
  json["cache"] = {{"dir", text(cell.cache.dir)},
                   {"fs", text(cell.cache.fs)},
                   {"options", text(cell.cache.options)},
                   {"clients", cell.cache.clients},
                   {"rename", text(cell.cache.rename)}};
  json["workers"] = cell.workers;
  json["fault"] = fault_json(cell.fault);
  json["mode"] = text(cell.mode);
  json["cause"] = text(cell.cause);
  json["trials"] = cell.trials;
  json["inconclusive"] = cell.inconclusive;
  json["inconclusive_reasons"] = counts(cell.inconclusive_reasons);
  json["skipped"] = cell.skipped ? Json{{"reason", text(*cell.skipped)}} : Json(nullptr);
  json["outcomes"] = counts(cell.outcomes);
  json["findings"] = counts(cell.findings);
  json["rates"] = Json::object();
  for (const auto& [name, rate] : cell.rates) {
    json["rates"][name] = {{"n", rate.n}, {"k", rate.k}, {"low", rate.low}, {"high", rate.high}};
  }
  json["recovered"] = cell.recovered;
  json["recovery_ms"] = {{"handoff", spread_json(cell.handoff)},
                         {"first_served", spread_json(cell.first_served)},
                         {"all_served", spread_json(cell.all_served)}};
  json["builds"] = {{"total", cell.builds}, {"per_key", counts(cell.builds_per_key)}, {"peak", cell.peak_builds}};
  json["faults"] = {{"planned", cell.faults_planned}, {"fired", cell.faults_fired}};
  json["warnings"] = cell.warnings;
  json["start_skew_ms"] = cell.start_skew_ms;
  json["expected"] = texts(cell.expected);
  json["met"] = cell.met;
  json["unmet"] = texts(cell.unmet);
  json["verdict"] = name_of(cell.verdict);
  json["replay"] = cell.replay.empty() ? Json(nullptr) : text(cell.replay);
  json["examples"] = Json::array();
  for (const Finding& finding : cell.examples) json["examples"].push_back(finding_json(finding));
  json["notes"] = texts(cell.notes);
  return json;
}

}  // namespace

std::string render_json(const Report& report) {
  Json json;
  json["schema"] = report.schema;
  json["scenario"] = text(report.scenario);
  json["about"] = text(report.about);
  json["verdict"] = name_of(report.verdict);
  json["interrupted"] = report.interrupted;
  json["seed"] = report.seed;
  json["machine"] = Json::object();
  for (const auto& [name, value] : report.machine) json["machine"][valid_utf8(name)] = text(value);
  const Counts all = count(report);
  json["summary"] = {{"cells", all.cells},
                     {"met", all.passed},
                     {"not_met", all.failed},
                     {"inconclusive", all.inconclusive},
                     {"skipped", all.skipped}};
  json["out"] = text(report.out);
  json["cells"] = Json::array();
  for (const Cell& cell : report.cells) json["cells"].push_back(cell_json(cell));
  return json.dump(2) + "\n";
}

}  // namespace jitrace
