#include "reports/phrases.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "verdict/statistics.h"

namespace jitrace {
namespace {

// The order in which classes tell: what blocks for ever first.
const std::vector<std::string>& telling_order() {
  static const std::vector<std::string> order = [] {
    std::vector<std::string> names = finding_class_names();
    std::swap(names[0], names[1]);  // wedged says more than hang
    return names;
  }();
  return order;
}

// Then that nothing recovered says itself.
bool blocked_always(const Cell& cell) {
  const auto hang = cell.findings.find("hang");
  return hang != cell.findings.end() && hang->second == cell.trials;
}

}  // namespace

std::string duration(double ms) {
  if (ms == 0) return "0 ms";  // not measured: nobody had to wait
  if (ms >= 99950) return fmt::format("{:.0f} s", ms / 1000);
  if (ms >= 9995) return fmt::format("{:.1f} s", ms / 1000);
  if (ms >= 999.5) return fmt::format("{:.2f} s", ms / 1000);
  if (ms >= 99.95) return fmt::format("{:.0f} ms", ms);
  if (ms >= 9.995) return fmt::format("{:.1f} ms", ms);
  return fmt::format("{:.2f} ms", ms);
}

std::string duration_or_dash(const Spread& spread, double Spread::*value) {
  return spread.n == 0 ? "-" : duration(spread.*value);
}

std::string headline(const Cell& cell, Detail detail) {
  if (cell.skipped) return "skipped";
  if (cell.trials == 0) return "no trial";
  std::vector<std::string> parts;
  const int conclusive = cell.trials - cell.inconclusive;
  for (const std::string& name : telling_order()) {
    const auto found = cell.findings.find(name);
    if (found == cell.findings.end()) continue;
    if (name == "hang" && cell.findings.contains("wedged") && cell.findings.at("wedged") == found->second) continue;
    parts.push_back(fmt::format("{} {} of {}", name, found->second, cell.trials));
    if (detail == Detail::headline) break;
  }
  const bool anything_to_recover = cell.cause != "none" || cell.fault;
  if (parts.empty()) {
    const auto any = cell.rates.find("any");
    if (conclusive == 0) {
      parts.push_back(fmt::format("inconclusive {} of {}", cell.inconclusive, cell.trials));
    } else if (any != cell.rates.end() && !anything_to_recover) {
      parts.push_back(in_words(any->second));
    } else if (anything_to_recover) {
      parts.push_back(fmt::format("recovered {} of {}", cell.recovered, conclusive));
    } else {
      parts.push_back(fmt::format("served {} of {}", cell.recovered, conclusive));
    }
  } else if (detail == Detail::all && anything_to_recover && !blocked_always(cell)) {
    parts.push_back(fmt::format("recovered {} of {}", cell.recovered, conclusive));
  }
  if (cell.inconclusive > 0 && conclusive > 0 && detail == Detail::all) {
    parts.push_back(fmt::format("inconclusive {} of {}", cell.inconclusive, cell.trials));
  }
  return join_text(parts, ", ");
}

std::string fault_title(const Cell& cell) {
  if (!cell.fault) return cell.cause == "none" || cell.cause.empty() ? "no fault" : cell.cause;
  const std::string what = describe(*cell.fault);
  if (cell.cause.empty() || cell.cause == "none") return what;
  return fmt::format("{}: {}", cell.cause, what);
}

std::string recovery_words(const Cell& cell) {
  if (cell.handoff.n + cell.handoff.unrecovered == 0) return "";
  std::vector<std::string> parts;
  if (cell.handoff.n > 0) parts.push_back("handoff p50 " + duration(cell.handoff.p50));
  if (cell.first_served.n > 0) parts.push_back("first served " + duration(cell.first_served.p50));
  if (cell.all_served.n > 0) parts.push_back("all served " + duration(cell.all_served.p50));
  if (cell.all_served.unrecovered > 0) parts.push_back(fmt::format("{} never served", cell.all_served.unrecovered));
  return join_text(parts, ", ");
}

std::string setting(const Cell& cell) {
  std::vector<std::string> parts;
  for (const std::string* part : {&cell.toolchain, &cell.arch, &cell.loader}) {
    if (!part->empty()) parts.push_back(*part);
  }
  parts.push_back(fmt::format("{} workers", cell.workers));
  if (cell.cache.clients > 1) parts.push_back(fmt::format("{} clients", cell.cache.clients));
  if (cell.cache.rename == "nfs-busy") parts.push_back("rename gap injected");
  if (!cell.mode.empty()) parts.push_back(cell.mode);
  return join_text(parts, ", ");
}

std::string cache_words(const Report& report) {
  if (report.cells.empty()) return "";
  const CacheInfo& cache = report.cells.front().cache;
  return fmt::format("cache {} on {} ({})", cache.dir, cache.fs.empty() ? "an unknown file system" : cache.fs, cache.options);
}

std::string standing(const Cell& cell) {
  if (cell.skipped) return "skipped";
  switch (cell.verdict) {
    case Grade::pass: return "met";
    case Grade::inconclusive: return "inconclusive";
    case Grade::fail: return "NOT MET";
  }
  return "?";
}

std::vector<std::pair<std::string, std::vector<const Cell*>>> by_fault(const Report& report) {
  std::vector<std::pair<std::string, std::vector<const Cell*>>> groups;
  for (const Cell& cell : report.cells) {
    const std::string title = fault_title(cell);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& one) { return one.first == title; });
    if (group == groups.end()) group = groups.insert(groups.end(), {title, {}});
    group->second.push_back(&cell);
  }
  return groups;
}

Counts count(const Report& report) {
  Counts counts;
  for (const Cell& cell : report.cells) {
    ++counts.cells;
    if (cell.skipped) ++counts.skipped;
    else if (cell.verdict == Grade::pass) ++counts.passed;
    else if (cell.verdict == Grade::inconclusive) ++counts.inconclusive;
    else ++counts.failed;
  }
  return counts;
}

}  // namespace jitrace
