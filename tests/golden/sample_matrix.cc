#include "golden/sample_matrix.h"

namespace jitrace {
namespace {

SweepCell recovered(std::int64_t ms) {
  SweepCell cell;
  cell.end = SweepEnd::recovered;
  cell.recovery = milliseconds(ms);
  cell.confirmed = "snapshot";
  return cell;
}

SweepCell same() {
  SweepCell cell;
  cell.end = SweepEnd::not_applicable;
  return cell;
}

SweepCell hang(const std::string& step, std::vector<std::string> left) {
  SweepCell cell;
  cell.end = SweepEnd::hang;
  cell.poisoned = true;
  cell.detail = "B polls stat lock, made by A/python3, which was killed; nobody alive can remove it";
  cell.left = std::move(left);
  cell.replay = "out/sweep/" + step + ".replay";
  cell.confirmed = "real";
  return cell;
}

SweepRow row(const std::string& step, std::size_t points, SweepCell tree, SweepCell first, SweepCell held) {
  return {step,
          points,
          {{SweepColumn::tree, std::move(tree)},
           {SweepColumn::builder_orphan_first, std::move(first)},
           {SweepColumn::builder_orphan_held, std::move(held)}}};
}

SweepRow hung(const std::string& step, std::size_t points) {
  const std::string name = "class-of-" + std::to_string(points) + "-points";
  return row(step, points, hang(name, {"lock"}), hang(name, {"lock"}),
             hang(name, {"lock", "ninja went on", "cc1plus went on"}));
}

}  // namespace

SweepMatrix sample_matrix() {
  SweepMatrix matrix;
  matrix.subject = "python3 torch_extension.py {cache}";
  matrix.cache = "cache/jitrace-1";
  matrix.file_system = "ext4";
  matrix.calls = 15260;
  matrix.counted = 15260;
  matrix.changes = 2676;
  matrix.processes = 11;
  matrix.recorded = milliseconds(6400);
  matrix.took = seconds(252);
  matrix.virtual_hours = 2.3;
  matrix.unchanged_polls = 1000;
  matrix.machine = {{"cpus", "2"}, {"kernel", "Linux 6.1"}, {"ptrace", "allowed"}};
  const std::string ninja = "after A/ninja: ", as = "after A/ninja/sh/c++/as: ";
  const std::string ld = "after A/ninja/sh/c++/collect2/ld: ";
  matrix.rows = {
      row("before A: stat ext.so", 5, recovered(2110), same(), same()),
      row("after A: mkdir ext", 8, recovered(2080), same(), same()),
      hung("after A: open lock O_RDWR|O_CREAT|O_EXCL", 4),
      hung("after A: open build.ninja O_WRONLY|O_CREAT|O_TRUNC", 6),
      hung("after A: write build.ninja", 16),
      hung(ninja + "open .ninja_deps O_WRONLY|O_CREAT|O_APPEND", 22),
      hung(ninja + "write .ninja_deps", 4),
      hung(ninja + "open .ninja_log O_WRONLY|O_CREAT|O_APPEND", 4),
      hung(ninja + "write .ninja_log", 9210),
      hung("after A/ninja/sh/c++/cc1plus: open e.o.d O_WRONLY|O_CREAT|O_TRUNC", 3),
      hung("after A/ninja/sh/c++/cc1plus: write e.o.d", 41),
      hung(as + "open e.o O_RDWR|O_CREAT|O_TRUNC", 2),
      hung(as + "write e.o", 932),
      hung(as + "write e.o (467)", 932),
      hung(as + "write e.o (933)", 12),
      hung(ninja + "write .ninja_log (2)", 88),
      hung(ninja + "unlink e.o.d", 104),
      hung(ld + "open ext.so O_RDWR|O_CREAT|O_TRUNC", 9000),
      hung(ld + "write ext.so", 1714),
      hung(ld + "write ext.so (858)", 1714),
      hung(ld + "write ext.so (1715)", 3),
      hung(ld + "chmod ext.so", 20),
      hung(ninja + "write .ninja_log (3)", 31),
      row("after A: unlink lock", 6630, recovered(2050), same(), same()),
      row("after A: utimes ext.so", 15, recovered(2310), same(), same()),
  };
  for (SweepRow& one : matrix.rows) {
    if (one.step == "after A: mkdir ext") one.cells[SweepColumn::tree].left = {"ext/"};
  }
  SweepCell locked_out = hang("fault-002", {"lock"});
  locked_out.detail = "the one that got it: A polls for ever: stat lock; lock was made by itself; then B polls for ever: stat lock";
  matrix.faults = {
      {"after A: write build.ninja", "ENOSPC", 1, recovered(2090)},
      {as + "write e.o", "ENOSPC", 933, recovered(2120)},
      {"after A: open lock O_RDWR|O_CREAT|O_EXCL", "lost reply, EEXIST", 1, locked_out},
      {"after A: unlink lock", "lost reply, ENOENT", 1, recovered(2060)},
  };
  return matrix;
}

SweepMatrix hostile_matrix() {
  SweepMatrix matrix = sample_matrix();
  const std::string harm =
      "<script>alert('&')</script> | `rm -rf` @someone #1 \x1b[31mred\x07 \xff\xfe ]]> %0A::error::\nb\tc";
  matrix.subject = "sh -c '" + harm + "'";
  matrix.counted = 15259;
  matrix.downgrades = {"io_uring was used by " + harm};
  SweepCell& torn = matrix.rows[23].cells[SweepColumn::tree];
  torn = {};
  torn.end = SweepEnd::torn;
  torn.detail = harm;
  torn.left = {harm};
  torn.replay = "out/a-directory-with-a-name-that-is-longer-than-any-line-of-a-terminal-could-ever-be/" + harm;
  torn.confirmed = "real";
  SweepCell& failed = matrix.rows[24].cells[SweepColumn::tree];
  failed.end = SweepEnd::failed;
  failed.detail = "exit code 1: ImportError: ext.so: file too short";
  failed.confirmed = "real";
  failed.replayed = true;
  SweepCell& undecided = matrix.rows[24].cells[SweepColumn::builder_orphan_first];
  undecided.end = SweepEnd::inconclusive;
  undecided.detail = "the kill did not strike: write ext.so came only 1714 times";
  matrix.rows[24].cells[SweepColumn::builder_orphan_held].end = SweepEnd::not_run;
  matrix.rows.push_back(row(harm, 3, recovered(2000), same(), same()));
  for (SweepRow& one : matrix.rows) one.cells[SweepColumn::tree_waiter] = one.cells[SweepColumn::tree];
  matrix.faults.push_back({harm, harm, 7, torn});
  matrix.faults.push_back({"after A: unlink lock", "EIO", 1, undecided});
  matrix.signal = 15;
  return matrix;
}

}  // namespace jitrace
