#include "golden/sample_report.h"

#include "verdict/statistics.h"

namespace jitrace {
namespace {

FaultPlan kill_in_compile() {
  FaultPlan fault;
  fault.point = Point::compile;
  fault.order = OrphanOrder::first;
  return fault;
}

Cell base(const std::string& strategy, const std::string& cause) {
  Cell cell;
  cell.id = strategy + "/" + cause + "/nvcc/sm_90a";
  cell.strategy = strategy;
  cell.run = "ninja";
  cell.toolchain = "nvcc 13.0.88";
  cell.arch = "sm_90a";
  cell.loader = "dlopen";
  cell.cache = {"cache/jitrace-1", "ext4", "rw,relatime", 1, "local"};
  cell.workers = 8;
  cell.mode = "gated";
  cell.cause = cause;
  cell.trials = 20;
  if (cause == "kill-compile") {
    cell.fault = kill_in_compile();
    cell.faults_planned = cell.faults_fired = 20;
  }
  cell.start_skew_ms = 0.12;
  return cell;
}

Cell wedged_baton() {
  Cell cell = base("torch-baton", "kill-compile");
  cell.outcomes = {{"hung", 300}, {"killed_by_plan", 20}};
  cell.findings = {{"hang", 20}, {"wedged", 20}};
  cell.handoff = cell.first_served = cell.all_served = spread_of({}, 20);
  cell.expected = {"always wedged", "never recovered"};
  cell.met = true;
  cell.verdict = Grade::pass;
  cell.replay = "jitrace replay out/torch-baton.kill-compile.nvcc.sm_90a/trial-1.plan";
  Finding wedged;
  wedged.kind = FindingClass::wedged;
  wedged.cause = "stale owner";
  wedged.trial = 1;
  wedged.round = 2;
  wedged.slot = 8;
  wedged.evidence = {
      "worker 8 waits until gemm/lock (inode 4711) is gone; it was made by worker 0, which was killed by SIGKILL",
      "While it waited (204 ms so far): 0 ms of CPU, 0 bytes of output"};
  cell.examples = {wedged};
  return cell;
}

Cell recovered_flock() {
  Cell cell = base("msa-flock over baton", "kill-compile");
  cell.outcomes = {{"built", 20}, {"killed_by_plan", 20}, {"served", 280}};
  cell.recovered = 20;
  cell.handoff = spread_of({0.9, 1.4, 1.9, 2.2}, 0);
  cell.first_served = spread_of({1380, 1400, 1420, 1460}, 0);
  cell.all_served = spread_of({1500, 1510, 1530, 1600}, 0);
  cell.builds = 20;
  cell.builds_per_key = {{"gemm", 1}};
  cell.peak_builds = 1;
  cell.warnings = 20;
  cell.expected = {"recovered", "warnings = 1", "handoff <= 50 ms"};
  cell.met = true;
  cell.verdict = Grade::pass;
  return cell;
}

Cell hostile_failure() {
  Cell cell = base("gptqmodel-flock lock-inside", "kill-compile");
  cell.outcomes = {{"built", 20}, {"failed", 3}, {"killed_by_plan", 20}, {"served", 277}};
  cell.findings = {{"two_owners", 2}, {"torn", 1}};
  cell.recovered = 17;
  cell.handoff = spread_of({12.5}, 0);
  cell.first_served = spread_of({18800}, 0);
  cell.all_served = spread_of({19000}, 3);
  cell.builds = 23;
  cell.builds_per_key = {{"gemm", 2}};
  cell.peak_builds = 2;
  cell.expected = {"never two_owners", "recovered"};
  cell.unmet = {"never two_owners: seen in 2 of 20 trials", "recovered: held in 17 of 20 trials"};
  cell.verdict = Grade::fail;
  cell.replay =
      "jitrace replay out/gptqmodel-flock-lock-inside.kill-compile.nvcc.sm_90a.with-a-very-long-directory/trial-7.plan";
  Finding owners;
  owners.kind = FindingClass::two_owners;
  owners.cause = "the lock file was replaced under its owner";
  owners.trial = 7;
  owners.slot = 3;
  owners.evidence = {"worker 2 held base/build.lock from +3.1 ms (inode 11), worker 3 from +4.0 ms (inode 12)"};
  Finding torn;
  torn.kind = FindingClass::torn;
  torn.cause = "<script>alert('&')</script> | `rm -rf` @someone #1 \x1b[31mred\x07 \xff\xfe ]]> %0A::error::";
  torn.trial = 9;
  torn.slot = 5;
  torn.evidence = {"first line\nsecond line\twith a tab"};
  cell.examples = {owners, torn};
  cell.notes = {"also seen, with no promise about it: torn 1 of 20"};
  return cell;
}

Cell inconclusive_cell() {
  Cell cell = base("deepgemm-dir", "kill-compile");
  cell.run = "popen";
  cell.loader = "elf";
  cell.inconclusive = 20;
  cell.inconclusive_reasons = {{"SIGKILL of builder 1 at compile did not fire", 19}, {"stalled", 1}};
  cell.faults_fired = 1;
  cell.outcomes = {{"built", 152}, {"stalled", 8}};
  cell.expected = {"recovered"};
  cell.replay = "jitrace replay out/deepgemm-dir/trial-1.plan";
  return cell;
}

Cell free_cell() {
  Cell cell = base("deepgemm", "none");
  cell.run = "popen";
  cell.loader = "elf";
  cell.mode = "free";
  cell.trials = 200;
  cell.recovered = 200;
  cell.outcomes = {{"built", 1600}};
  cell.rates = {{"any", rate_of(0, 200)}, {"missing", rate_of(0, 200)}};
  cell.builds = 1600;
  cell.builds_per_key = {{"gemm", 8}};
  cell.peak_builds = 8;
  cell.expected = {"never missing"};
  cell.met = true;
  cell.verdict = Grade::pass;
  cell.notes = {"load results are simulated from the driver decision table"};
  return cell;
}

Cell skipped() {
  Cell cell = base("torch-flock", "none");
  cell.trials = 0;
  cell.toolchain = "nvrtc";
  cell.skipped = "nvrtc: no libnvrtc.so was found; install the CUDA toolkit or set CUDA_HOME";
  return cell;
}

}  // namespace

Report sample_report() {
  Report report;
  report.scenario = "repro/msa-23";
  report.about = "A builder is killed in mid-compile: what do the others do, and what does a fresh round do?";
  report.verdict = Grade::fail;
  report.machine = {{"cpus", "2"}, {"driver", "none"}, {"gpus", "none"}, {"kernel", "Linux 6.1"}, {"nvcc", "13.0.88"}};
  report.seed = 7;
  report.out = "out";
  report.cells = {wedged_baton(), recovered_flock(), hostile_failure(), inconclusive_cell(), free_cell(), skipped()};
  return report;
}

}  // namespace jitrace
