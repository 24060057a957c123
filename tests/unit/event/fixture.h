#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/temp_dir.h"
#include "event/board.h"

namespace jitrace {

inline TempDir scratch() {
  const char* parent = ::getenv("TMPDIR");
  return std::move(TempDir::create(parent != nullptr ? parent : P_tmpdir, "jitrace-test-").value());
}

inline Board new_board(const TempDir& dir, Board::Size size, std::uint32_t worker_slots = 4) {
  return std::move(Board::create(join(dir.path(), "board"), size, worker_slots).value());
}

// A function of the index alone, so that a reader can tell a mixed record from a whole one.
inline Event numbered(std::uint64_t index) {
  Event event;
  event.kind = EventKind::file_op;
  event.slot = static_cast<Slot>(index % 100);
  event.key = static_cast<std::uint16_t>(index % 7);
  event.attempt = index;
  event.a = static_cast<std::int64_t>(index * 3);
  event.b = -static_cast<std::int64_t>(index);
  event.text.assign(index % (event_text_limit + 1), static_cast<char>('a' + index % 26));
  return event;
}

inline void expect_numbered(const Event& event) {
  const Event wanted = numbered(event.attempt);
  EXPECT_EQ(event.kind, wanted.kind);
  EXPECT_EQ(event.slot, wanted.slot);
  EXPECT_EQ(event.key, wanted.key);
  EXPECT_EQ(event.a, wanted.a);
  EXPECT_EQ(event.b, wanted.b);
  EXPECT_EQ(event.text, wanted.text);
  EXPECT_GT(event.stamp, 0);
  EXPECT_NE(event.pid, 0u);
}

}  // namespace jitrace
