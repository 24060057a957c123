#include "unit/worker/worker_bench.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <cstdlib>

namespace jitrace {
namespace {

std::string temporary_root() { return std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp"; }

}  // namespace

WorkerBench::WorkerBench()
    : directory(std::move(*TempDir::create(temporary_root(), "worker"))),
      board(std::move(*Board::create(directory.path() + "/board", {512, 65536}, 64))) {
  spec.board = board.path();
  spec.preset = "torch-flock";
  spec.cache = directory.path() + "/cache";
  spec.toolchain = {ToolchainKind::fake, "fake", std::string(JITRACE_LIBEXEC) + "/fake_compiler", "1"};
  spec.compiler = spec.toolchain.program;
  spec.libexec = JITRACE_LIBEXEC;
  spec.arch = "sm_90a";
  spec.loader.kind = "fake";
  spec.seed = 11;
  const std::string source = directory.path() + "/k0.cu";
  EXPECT_TRUE(write_file(source, "__global__ void k0() {}\n"));
  EXPECT_TRUE(make_dirs(spec.cache));
  spec.keys = {{"k0", source, 0}};
}

Process WorkerBench::start() {
  spec.slot = next_slot_++;
  const std::string base = directory.path() + "/w" + std::to_string(spec.slot);
  spec.scratch = base + ".scratch";
  spec.control = base + ".control";
  EXPECT_EQ(::mkfifo(spec.control.c_str(), 0600), 0);
  EXPECT_TRUE(write_file(base + ".spec", spec.text()));
  Command command;
  command.argv = {std::string(JITRACE_LIBEXEC) + "/worker", base + ".spec"};
  command.environment =
      environment_with({"JITRACE_CLIENT=" + std::to_string(spec.client), "TMPDIR=" + directory.path()});
  Result<Process> process = Process::spawn(command);
  EXPECT_TRUE(process) << process.error().message();
  return std::move(*process);
}

bool WorkerBench::refresh() {
  pollfd bell{board.bell().get(), POLLIN, 0};
  ::poll(&bell, 1, 20);
  board.clear_bell();
  for (Event& event : board.read(&next_)) events_.push_back(std::move(event));
  return true;
}

Event WorkerBench::wait_for_point(Slot slot, Point point) {
  const Event event = wait_for([&](const Event& e) {
    return e.kind == EventKind::reached && e.point == point && (slot == driver_slot || e.slot == slot);
  });
  EXPECT_EQ(event.point, point) << "slot " << slot << " never came to " << name_of(point);
  return event;
}

const std::vector<Event>& WorkerBench::events() {
  refresh();
  return events_;
}

std::vector<std::string> WorkerBench::points_of(Slot slot) {
  std::vector<std::string> names;
  for (const Event& event : events()) {
    if (event.kind == EventKind::reached && event.slot == slot) names.emplace_back(name_of(event.point));
  }
  return names;
}

WaitStatus ended(Process& process) {
  const Result<WaitStatus> status = process.wait();
  EXPECT_TRUE(status);
  return *status;
}

}  // namespace jitrace
