#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "process/guard.h"

// The messages between the driver and the guard, over a seqpacket socket: a packet is a whole message. Both ends are
// built together, so the format has no version.
namespace jitrace::guard_wire {

enum class Request : std::uint32_t { start, signal_group, sweep, add_scrap, drop_scrap };

// Numbers in the machine's order, strings behind their length.
class Writer {
 public:
  Writer& number(std::uint64_t value);
  Writer& text(std::string_view value);
  Writer& texts(const std::vector<std::string>& values);
  const std::string& data() const { return data_; }

 private:
  std::string data_;
};

// Once a read runs past the end, every following one gives zeros and ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view data) : data_(data) {}
  std::uint64_t number();
  std::string text();
  std::vector<std::string> texts();
  bool ok() const { return ok_; }

 private:
  std::string_view data_;
  bool ok_ = true;
};

std::string encode(const GuardEvent& event);
Result<GuardEvent> decode(std::string_view data);

enum class Block { yes, no };

// Sends one message, with a descriptor if it has one (borrowed). A long message travels as a memfd. Fails with EAGAIN
// under Block::no when the socket is full; nothing is sent then.
Result<void> send_message(const Fd& socket, std::string_view data, const Fd& attached, Block block);

struct Message {
  std::string data;
  Fd attached;
};
// Nothing when there is no message now; an error when the other end is gone. Never blocks.
Result<std::optional<Message>> receive_message(const Fd& socket);

}  // namespace jitrace::guard_wire
