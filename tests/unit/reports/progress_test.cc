#include "reports/progress.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>

#include "golden/sample_report.h"
#include "reports/wrap.h"

namespace jitrace {
namespace {

// What was written to a stream, in memory.
class Screen {
 public:
  Screen() : stream_(::open_memstream(&text_, &size_)) {}
  ~Screen() {
    std::fclose(stream_);
    std::free(text_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  std::FILE* stream() { return stream_; }
  std::string text() {
    std::fflush(stream_);
    return std::string(text_, size_);
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

Step step(const std::string& cell, int number, const std::string& what) {
  Step result;
  result.cell = cell;
  result.number = number;
  result.trials = 20;
  result.what = what;
  result.all = 80;
  return result;
}

TEST(Progress, SaysTrialWhatHappensAndTheTimeLeft) {
  Step now = step("torch-baton/kill", 1, "starting");
  EXPECT_EQ(live_words(now), "torch-baton/kill: 1 of 20, starting");
  now = step("torch-baton/kill", 5, "killed worker 0 at compile");
  now.done = 16;
  now.elapsed = seconds(4);
  EXPECT_EQ(live_words(now), "torch-baton/kill: 5 of 20, killed worker 0 at compile; 16 of 80 done, about 16 s left");
  now = step("x", 2, "");
  now.done = 1;
  now.all = 1000;
  now.elapsed = seconds(10);
  EXPECT_EQ(live_words(now), "x: 2 of 20; 1 of 1000 done, about 167 min left");
}

TEST(Progress, TheTerminalLineIsRedrawnAndNeverWraps) {
  Screen screen;
  const auto progress = terminal_progress(screen.stream(), 40);
  progress->trial(step(std::string(100, 'x') + "\x1b[2J", 1, "starting"));
  const std::string live = screen.text();
  EXPECT_TRUE(live.starts_with("\r\x1b[K"));
  EXPECT_LE(columns(live.substr(4)), 39u);
  EXPECT_EQ(live.find("\x1b[2J"), std::string::npos);
  progress->cell_ends(sample_report().cells[1]);
  EXPECT_NE(screen.text().find("recovered 20 of 20"), std::string::npos);
  EXPECT_TRUE(screen.text().ends_with("\n"));
}

TEST(Progress, PlainLinesHoldNoControlBytesAndAreFew) {
  Screen screen;
  const auto progress = plain_progress(screen.stream());
  for (int i = 1; i <= 20; ++i) progress->trial(step("torch-baton/kill\x1b", i, "compiling"));
  progress->cell_ends(sample_report().cells[0]);
  progress->finish();
  EXPECT_EQ(screen.text(),
            "torch-baton/kill\\x1b: 1 of 20, compiling\n"
            "torch-baton/kill-compile/nvcc/sm_90a: wedged 20 of 20, 20 never served [met]\n");
}

}  // namespace
}  // namespace jitrace
