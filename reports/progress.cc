#include "reports/progress.h"

#include <fmt/format.h>

#include "reports/escape.h"
#include "reports/phrases.h"
#include "reports/wrap.h"

namespace jitrace {
namespace {

// A number that stands for a while: no more exact than it is.
std::string about(Nanoseconds left) {
  const Nanoseconds whole = (left + seconds(1) - 1) / seconds(1);
  if (whole < 100) return fmt::format("{} s", whole);
  return fmt::format("{} min", (whole + 59) / 60);
}

class Live : public Progress {
 public:
  explicit Live(std::FILE* stream) : stream_(stream) {}

  void trial(const Step& step) override { show(live_words(step), Moment::between); }

  void cell_ends(const Cell& cell) override {
    std::string text = fmt::format("{}: {}", for_terminal(cell.id), for_terminal(headline(cell)));
    if (const std::string times = recovery_words(cell); !times.empty()) text += ", " + times;
    show(fmt::format("{} [{}]", text, standing(cell)), Moment::end);
  }

 protected:
  enum class Moment { between, end };
  virtual void show(const std::string& text, Moment moment) = 0;
  std::FILE* stream_;
};

class Terminal : public Live {
 public:
  Terminal(std::FILE* stream, int width) : Live(stream), width_(static_cast<std::size_t>(std::max(20, width)) - 1) {}

  void finish() override {
    if (!drawn_) return;
    fmt::print(stream_, "\r\x1b[K");
    std::fflush(stream_);
    drawn_ = false;
  }

 private:
  void show(const std::string& text, Moment moment) override {
    const Nanoseconds at = now();
    if (moment == Moment::between && at - shown_ < milliseconds(100)) return;
    shown_ = at;
    if (moment == Moment::end) {
      // The last word stays, whole: it may take more than one line.
      finish();
      bool first = true;
      for (const std::string& line : wrap(text, width_ - 4)) {
        fmt::print(stream_, "{}{}\n", first ? "" : "    ", line);
        first = false;
      }
    } else {
      fmt::print(stream_, "\r\x1b[K{}", fit(text, width_));
      drawn_ = true;
    }
    std::fflush(stream_);
  }

  std::size_t width_;
  Nanoseconds shown_ = 0;
  bool drawn_ = false;
};

class Plain : public Live {
 public:
  using Live::Live;
  void finish() override { std::fflush(stream_); }

 private:
  void show(const std::string& text, Moment moment) override {
    const Nanoseconds at = now();
    if (moment == Moment::between && at - shown_ < seconds(30)) return;
    shown_ = at;
    fmt::print(stream_, "{}\n", text);
    std::fflush(stream_);
  }

  Nanoseconds shown_ = 0;
};

}  // namespace

std::string live_words(const Step& step) {
  std::string text = fmt::format("{}: {} of {}", for_terminal(step.cell), step.number, step.trials);
  if (!step.what.empty()) text += ", " + for_terminal(step.what);
  if (step.done > 0 && step.done < step.all) {
    text += fmt::format("; {} of {} done, about {} left", step.done, step.all,
                        about(step.elapsed / step.done * (step.all - step.done)));
  }
  return text;
}

std::unique_ptr<Progress> terminal_progress(std::FILE* stream, int width) {
  return std::make_unique<Terminal>(stream, width);
}
std::unique_ptr<Progress> plain_progress(std::FILE* stream) { return std::make_unique<Plain>(stream); }

}  // namespace jitrace
