#include "reports/console.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "reports/escape.h"
#include "reports/page.h"
#include "reports/phrases.h"
#include "reports/wrap.h"

namespace jitrace {
namespace {

class Console : private Page {
 public:
  Console(const Report& report, const ConsoleOptions& options) : Page(options), report_(report) {}

  std::string text() {
    title();
    for (const auto& [fault, cells] : by_fault(report_)) group(fault, cells);
    findings();
    unmet();
    inconclusive();
    skipped();
    notes();
    end();
    return take();
  }

 private:
  void title() {
    const Counts counts = count(report_);
    paragraph("", fmt::format("{}: {} cells, seed {}", report_.scenario, counts.cells, report_.seed), Ink::bold);
    if (!report_.about.empty()) paragraph("  ", report_.about);
    if (const std::string cache = cache_words(report_); !cache.empty()) paragraph("  ", cache, Ink::dim);
  }

  void group(const std::string& fault, const std::vector<const Cell*>& cells) {
    heading(fault);
    std::string said;
    const std::vector<std::string> names = row_names(cells);
    bool any = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i]->skipped) continue;
      if (!any) header();
      any = true;
      if (const std::string now = setting(*cells[i]); now != said) {
        paragraph("  - ", now, Ink::dim);
        said = now;
      }
      row(names[i], *cells[i]);
    }
    const auto left_out =
        std::count_if(cells.begin(), cells.end(), [](const Cell* cell) { return cell->skipped.has_value(); });
    if (left_out > 0) line(fmt::format("  {} skipped, see below", left_out), Ink::dim);
  }

  // Strategies; where two rows of one group would read the same, their ids.
  static std::vector<std::string> row_names(const std::vector<const Cell*>& cells) {
    std::map<std::string, int> seen;
    for (const Cell* cell : cells) ++seen[cell->strategy + setting(*cell)];
    std::vector<std::string> names;
    for (const Cell* cell : cells)
      names.push_back(seen[cell->strategy + setting(*cell)] > 1 ? cell->id : cell->strategy);
    return names;
  }

  // A narrow terminal gets the two times that matter most, and neither the third nor the builds.
  bool roomy() const { return width() >= 76; }
  std::string extra_columns(const std::string& all, const std::string& builds) const {
    if (!roomy()) return "";
    return fmt::format(" {} {}", fit(all, time_width, Fill::yes), fit(builds, builds_width, Fill::yes));
  }

  std::size_t seen_width() const {
    const std::size_t extra = roomy() ? 1 + time_width + 1 + builds_width : 0;
    return width() - 2 - name_width - 1 - 2 * (1 + time_width) - extra - 1 - standing_width;
  }

  void header() {
    line(fmt::format("  {} {} {} {}{} {}", fit("strategy", name_width, Fill::yes), fit("seen", seen_width(), Fill::yes),
                     fit("handoff", time_width, Fill::yes), fit("first", time_width, Fill::yes),
                     extra_columns("all", "builds"), "promise"),
         Ink::dim);
  }

  void row(const std::string& name, const Cell& cell) {
    const std::vector<std::string> left = wrap(for_terminal(name), name_width);
    const std::vector<std::string> seen = wrap(for_terminal(headline(cell)), seen_width());
    // The one word that is too long for the column.
    const std::string verdict = standing(cell) == "inconclusive" ? "inconcl." : standing(cell);
    const Ink how = cell.verdict == Grade::pass ? Ink::good : cell.verdict == Grade::fail ? Ink::bad : Ink::bold;
    for (std::size_t i = 0; i < std::max(left.size(), seen.size()); ++i) {
      std::string text = "  " + fit(i < left.size() ? left[i] : "", name_width, Fill::yes) + " " +
                         fit(i < seen.size() ? seen[i] : "", seen_width(), Fill::yes);
      if (i == 0) {
        const auto median = [](const Spread& spread) { return duration_or_dash(spread, &Spread::p50); };
        text += fmt::format(" {} {}{} ", fit(median(cell.handoff), time_width, Fill::yes),
                            fit(median(cell.first_served), time_width, Fill::yes),
                            extra_columns(median(cell.all_served), cell.skipped ? "-" : std::to_string(cell.builds)));
        line(text + ink(verdict, how));
      } else {
        line(text.substr(0, text.find_last_not_of(' ') + 1));
      }
    }
  }

  void findings() {
    bool any = false;
    for (const Cell& cell : report_.cells) {
      for (const Finding& finding : cell.examples) {
        if (finding.kind == FindingClass::hang && cell.findings.contains("wedged")) continue;  // the same, once more
        if (!any) heading("Findings, the first of each kind");
        any = true;
        paragraph("  ", fmt::format("{}{} in {}, trial {}{}", name_of(finding.kind), cell.met ? " (as promised)" : "",
                                    cell.id, finding.trial, finding.cause.empty() ? "" : ": " + finding.cause));
        if (!finding.evidence.empty()) paragraph("      ", finding.evidence.front(), Ink::dim);
      }
      if (!cell.examples.empty() && !cell.replay.empty()) command("    ", cell.replay);
    }
  }

  void unmet() {
    bool any = false;
    for (const Cell& cell : report_.cells) {
      for (const std::string& clause : cell.unmet) {
        if (!any) heading("Not met");
        any = true;
        paragraph("  ", fmt::format("{}: {}", cell.id, clause), Ink::bad);
      }
      if (!cell.unmet.empty() && cell.examples.empty() && !cell.replay.empty()) command("    ", cell.replay);
    }
  }

  void inconclusive() {
    bool any = false;
    for (const Cell& cell : report_.cells) {
      for (const auto& [reason, times] : cell.inconclusive_reasons) {
        if (!any) heading("Inconclusive trials");
        any = true;
        paragraph("  ", fmt::format("{} of {} in {}: {}", times, cell.trials, cell.id, reason));
      }
      if (cell.inconclusive > 0 && cell.examples.empty() && cell.unmet.empty() && !cell.replay.empty()) {
        command("    ", cell.replay);
      }
    }
  }

  void skipped() {
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    for (const Cell& cell : report_.cells) {
      if (!cell.skipped) continue;
      auto at =
          std::find_if(reasons.begin(), reasons.end(), [&](const auto& one) { return one.first == *cell.skipped; });
      if (at == reasons.end()) at = reasons.insert(reasons.end(), {*cell.skipped, {}});
      at->second.push_back(cell.id);
    }
    if (!reasons.empty()) heading("Skipped");
    for (const auto& [reason, cells] : reasons) {
      paragraph("  ", reason);
      paragraph("      ", join_text(cells, ", "), Ink::dim);
    }
  }

  void notes() {
    std::vector<std::pair<std::string, int>> notes;
    for (const Cell& cell : report_.cells) {
      for (const std::string& note : cell.notes) {
        const auto at = std::find_if(notes.begin(), notes.end(), [&](const auto& one) { return one.first == note; });
        if (at == notes.end()) notes.emplace_back(note, 1);
        else ++at->second;
      }
    }
    constexpr std::size_t most = 8;
    if (!notes.empty()) heading("Notes");
    for (std::size_t i = 0; i < std::min(most, notes.size()); ++i) {
      paragraph("  ",
                notes[i].second > 1 ? fmt::format("{} ({} cells)", notes[i].first, notes[i].second) : notes[i].first);
    }
    if (notes.size() > most) line(fmt::format("  and {} more in report.json", notes.size() - most), Ink::dim);
  }

  void end() {
    const Counts counts = count(report_);
    line("");
    const Ink how = report_.verdict == Grade::pass ? Ink::good : report_.verdict == Grade::fail ? Ink::bad : Ink::bold;
    std::string text = fmt::format("{}: {} met, {} not met, {} inconclusive, {} skipped", name_of(report_.verdict),
                                   counts.passed, counts.failed, counts.inconclusive, counts.skipped);
    if (report_.interrupted) text += "; interrupted, so this is a part";
    paragraph("", text, how);
    if (!report_.out.empty()) {
      line("kept in");
      line("    " + for_terminal(report_.out));
    }
  }

  static constexpr std::size_t name_width = 18;
  static constexpr std::size_t time_width = 7;
  static constexpr std::size_t builds_width = 6;
  static constexpr std::size_t standing_width = 8;
  const Report& report_;
};

}  // namespace

std::string render_console(const Report& report, const ConsoleOptions& options) {
  return Console(report, options).text();
}

}  // namespace jitrace
