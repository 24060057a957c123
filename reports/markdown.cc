#include "reports/markdown.h"

#include <fmt/format.h>

#include "reports/escape.h"
#include "reports/phrases.h"

namespace jitrace {
namespace {

std::string row(const Cell& cell) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", for_markdown(cell.strategy),
                     for_markdown(headline(cell)), duration_or_dash(cell.handoff, &Spread::p50),
                     duration_or_dash(cell.first_served, &Spread::p50), duration_or_dash(cell.all_served, &Spread::p50),
                     cell.builds, cell.verdict == Grade::fail ? "**not met**" : standing(cell));
}

std::string details(const Cell& cell) {
  std::string out = fmt::format("\n#### {}\n\n", for_markdown(cell.id));
  for (const std::string& clause : cell.unmet) out += fmt::format("- not met: {}\n", for_markdown(clause));
  for (const auto& [reason, times] : cell.inconclusive_reasons) {
    out += fmt::format("- inconclusive {} of {}: {}\n", times, cell.trials, for_markdown(reason));
  }
  for (const Finding& finding : cell.examples) {
    out += fmt::format("- {} in trial {}{}\n", for_markdown(name_of(finding.kind)), finding.trial,
                       finding.cause.empty() ? "" : ": " + for_markdown(finding.cause));
    if (!finding.evidence.empty()) out += fmt::format("  {}\n", for_markdown(finding.evidence.front()));
  }
  if (!cell.replay.empty()) out += "\n" + code_block(cell.replay);
  return out;
}

}  // namespace

std::string render_markdown(const Report& report, std::size_t limit) {
  const Counts counts = count(report);
  std::vector<std::string> pieces;
  std::string head = fmt::format("## jitrace {}: {}\n\n", for_markdown(report.scenario), name_of(report.verdict));
  if (!report.about.empty()) head += for_markdown(report.about) + "\n\n";
  head += fmt::format("{} met, {} not met, {} inconclusive, {} skipped; seed {}{}\n", counts.passed, counts.failed,
                      counts.inconclusive, counts.skipped, report.seed, report.interrupted ? "; interrupted" : "");
  if (const std::string cache = cache_words(report); !cache.empty()) head += "\n" + for_markdown(cache) + "\n";
  pieces.push_back(head);
  for (const auto& [fault, cells] : by_fault(report)) {
    std::string said, piece = fmt::format("\n### {}\n", for_markdown(fault));
    for (const Cell* cell : cells) {
      if (cell->skipped) continue;  // listed below, with the reason
      if (setting(*cell) != said) {
        said = setting(*cell);
        piece += fmt::format("\n{}\n\n| strategy | seen | handoff | first served | all served | builds | promise |\n"
                            "|---|---|---|---|---|---|---|\n",
                            for_markdown(said));
      }
      pieces.push_back(piece + row(*cell));
      piece.clear();
    }
  }
  for (const Cell& cell : report.cells) {
    if (!cell.skipped && cell.verdict != Grade::pass) pieces.push_back(details(cell));
  }
  std::string title = "\n#### Skipped\n\n";
  for (const Cell& cell : report.cells) {
    if (!cell.skipped) continue;
    pieces.push_back(fmt::format("{}- {}: {}\n", title, for_markdown(cell.id), for_markdown(*cell.skipped)));
    title.clear();
  }
  if (!report.machine.empty()) {
    std::string machine = "\n<details><summary>machine</summary>\n\n";
    for (const auto& [name, value] : report.machine) {
      machine += fmt::format("- {}: {}\n", for_markdown(name), for_markdown(value));
    }
    pieces.push_back(machine + "\n</details>\n");
  }
  std::string out;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    constexpr std::size_t room = 120;  // for the sentence that says what was left out
    if (out.size() + pieces[i].size() + room > limit) {
      out += fmt::format("\n{} more parts do not fit here; report.json has them.\n", pieces.size() - i);
      break;
    }
    out += pieces[i];
  }
  return out;
}

}  // namespace jitrace
