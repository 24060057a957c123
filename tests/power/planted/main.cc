// The worker with a planted bug. It lies as `worker` in a directory that is called like the bug.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/file.h"
#include "power/planted/bugs.h"
#include "worker/run_worker.h"

namespace {

using namespace jitrace;

int refuse(const std::string& why) {
  std::fprintf(stderr, "planted worker: %s\n", why.c_str());
  return 70;
}

void leave(power::Leaves what) {
  switch (what) {
    case power::Leaves::nothing: return;
    case power::Leaves::a_process:
      if (::fork() == 0) {
        for (;;) ::pause();
      }
      return;
    case power::Leaves::a_temporary_file: {
      const char* directory = std::getenv("TMPDIR");
      if (directory == nullptr) return;
      (void)write_file(join(directory, "tmpxft_" + std::to_string(::getpid())), "left behind\n");
      return;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return refuse("its one argument is a spec");
  const power::Bug* bug = power::find_bug(base_of(parent_of(argv[0])));
  if (bug == nullptr) return refuse(std::string("no bug is called like the directory of ") + argv[0]);
  const Result<std::string> text = read_file(argv[1]);
  if (!text) return refuse(text.error().message());
  const Result<WorkerSpec> spec = WorkerSpec::parse(*text);
  if (!spec) return refuse(spec.error().message());
  const Preset* row = find_preset(spec->preset);
  if (row == nullptr) return refuse("unknown preset " + spec->preset);
  Preset preset = *row;
  const bool hit = bug->base == spec->preset;
  if (hit && bug->change != nullptr) bug->change(preset);
  const Result<int> code = run_worker(*spec, preset);
  if (!code) return refuse(code.error().message());
  if (hit) leave(bug->leaves);
  return *code;
}
