#include "toolchain/tool.h"

#include <unistd.h>

#include <cstdlib>

#include "base/text.h"

namespace jitrace {

Tool Tool::from_environment() {
  Tool tool;
  const auto number = [](const char* name, std::uint16_t fallback) {
    const char* text = std::getenv(name);
    return text == nullptr ? fallback : static_cast<std::uint16_t>(std::strtoul(text, nullptr, 10));
  };
  if (const char* attempt = std::getenv("JITRACE_ATTEMPT")) tool.attempt_ = std::strtoull(attempt, nullptr, 16);
  tool.key_ = number("JITRACE_KEY", 0);
  tool.builder_ = number("JITRACE_SLOT", 0xffff);
  if (const char* path = std::getenv("JITRACE_BOARD")) {
    if (Result<Board> board = Board::attach(path)) tool.board_.emplace(std::move(*board));
  }
  return tool;
}

Event Tool::event(EventKind kind, std::string_view text) const {
  Event event;
  event.kind = kind;
  event.slot = slot_;
  event.key = key_;
  event.attempt = attempt_;
  event.text = text;
  return event;
}

void Tool::begin(ToolRole role, std::string_view arguments) {
  if (!board_) return;
  slot_ = board_->claim_slot();
  Event begun = event(EventKind::tool_begin, arguments);
  begun.a = static_cast<std::int64_t>(role);
  begun.b = ::getppid();
  board_->append(begun);
}

void Tool::reach(Point point, std::string_view path) {
  if (!board_) return;
  Event reached = event(EventKind::reached, path);
  reached.point = point;
  if (board_->reach(std::move(reached)) == Order::exit_137) ::_exit(137);
}

void Tool::output(Output progress, std::string_view path) {
  if (!board_) return;
  Event written = event(EventKind::tool_output, path);
  written.a = static_cast<std::int64_t>(progress);
  board_->append(written);
}

void Tool::end(int raw_status) {
  if (!board_) return;
  Event ended = event(EventKind::tool_end, {});
  ended.a = raw_status;
  board_->append(ended);
}

std::string arguments_text(char** argv) {
  std::string text;
  for (; *argv != nullptr; ++argv) {
    if (!text.empty()) text += ' ';
    text += *argv;
    if (text.size() > event_text_limit) break;
  }
  return text;
}

}  // namespace jitrace
