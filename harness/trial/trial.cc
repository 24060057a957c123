#include "trial/trial.h"

#include <algorithm>

#include "base/file.h"
#include "process/proc.h"
#include "trial/session.h"
#include "trial/stage.h"

namespace jitrace {
namespace {

// Room for every worker of every round and a reload, plus the tools of all their attempts.
Board::Size board_size(const Plan& plan) {
  const auto workers = static_cast<std::uint32_t>(plan.workers.size()) * static_cast<std::uint32_t>(plan.rounds + 1);
  const auto gets = static_cast<std::uint32_t>(plan.kernels.size() * static_cast<std::size_t>(plan.gets));
  Board::Size size;
  size.slots = std::min<std::uint32_t>(60000, workers + 1024 + workers * static_cast<std::uint32_t>(plan.kernels.size()) * 8);
  size.records = 4096 + workers * gets * 160;
  return size;
}

}  // namespace

Result<TrialResult> run_trial(const Plan& plan, const Setup& setup, Lane& lane, const Fd& interrupt) {
  TrialResult result;
  result.history.plan = plan.text();
  TRY_ASSIGN(const Stage stage, set_stage(plan, setup, lane.number));
  result.lane_dir = stage.lane_dir;
  result.cache_dir = stage.cache_dir;
  result.history.cache = stage.cache_dir;
  if (const auto prepared = prepare_cache(plan, setup, stage); !prepared) {
    // The plan could not be carried out, which says nothing of the subject and nothing of the other trials.
    result.history.failure = prepared.error().message();
    return result;
  }
  const auto workers = static_cast<std::uint32_t>(plan.workers.size()) * static_cast<std::uint32_t>(plan.rounds + 1);
  TRY_ASSIGN(Board board, Board::create(join(stage.lane_dir, "board"), board_size(plan), workers));
  Session session(plan, setup, stage, std::move(board), lane, interrupt);
  TRY_ASSIGN(const bool settled, session.run());
  result.end = settled ? TrialResult::End::settled : TrialResult::End::interrupted;
  result.history.events = session.take_events();
  result.history.torn_records = session.torn_records();
  result.history.failure = session.failure();
  result.history.snapshot = take_snapshot(plan, setup, stage);
  result.history.residue = take_residue(stage);
  if (!find_by_environment("JITRACE_TOKEN=" + stage.token).empty()) {
    result.history.failure = "a process of the trial survived it";
  }
  return result;
}

Result<void> measure_typical(const Plan& plan, Setup& setup, Lane& lane, const Fd& interrupt) {
  const bool random = std::any_of(plan.faults.begin(), plan.faults.end(), [](const FaultPlan& fault) { return fault.at_random; });
  if (!random || setup.typical.contains(plan.subject)) return {};
  Plan clean = plan;
  clean.faults.clear();
  clean.rounds = 1;
  TRY_ASSIGN(const TrialResult result, run_trial(clean, setup, lane, interrupt));
  Nanoseconds begin = 0;
  for (const Event& event : result.history.events) {
    if (event.kind == EventKind::round_begin) begin = event.stamp;
    if (event.kind == EventKind::process_ended && begin != 0) setup.typical[plan.subject] = event.stamp - begin;
  }
  return remove_trial(result);
}

Result<void> remove_trial(const TrialResult& result) {
  TRY(remove_tree(result.lane_dir));
  return remove_tree(result.cache_dir);
}

}  // namespace jitrace
