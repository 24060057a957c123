#include "process/guard_wire.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace jitrace::guard_wire {
namespace {

// Well below the smallest send buffer, so that many messages are under way before a sender has to wait.
constexpr std::size_t packet_limit = 32 * 1024;

// The first byte of a packet says where its message is.
enum Where : char { in_packet, in_memfd };

}  // namespace

Writer& Writer::number(std::uint64_t value) {
  data_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

Writer& Writer::text(std::string_view value) {
  number(value.size());
  data_.append(value);
  return *this;
}

Writer& Writer::texts(const std::vector<std::string>& values) {
  number(values.size());
  for (const std::string& value : values) text(value);
  return *this;
}

std::uint64_t Reader::number() {
  std::uint64_t value = 0;
  if (!ok_ || data_.size() < sizeof value) {
    ok_ = false;
    return 0;
  }
  std::memcpy(&value, data_.data(), sizeof value);
  data_.remove_prefix(sizeof value);
  return value;
}

std::string Reader::text() {
  const std::uint64_t size = number();
  if (!ok_ || data_.size() < size) {
    ok_ = false;
    return {};
  }
  std::string value(data_.substr(0, size));
  data_.remove_prefix(size);
  return value;
}

std::vector<std::string> Reader::texts() {
  std::vector<std::string> values;
  for (std::uint64_t count = number(); count > 0 && ok_; --count) values.push_back(text());
  return values;
}

std::string encode(const GuardEvent& event) {
  Writer writer;
  writer.number(static_cast<std::uint64_t>(event.kind)).number(event.id).number(static_cast<std::uint64_t>(event.pid));
  writer.number(static_cast<std::uint64_t>(event.stamp));
  writer.number(event.status ? 1 : 0).number(static_cast<std::uint64_t>(event.status ? event.status->raw() : 0));
  writer.number(static_cast<std::uint64_t>(event.count)).number(static_cast<std::uint64_t>(event.error));
  writer.text(event.text);
  return writer.data();
}

Result<GuardEvent> decode(std::string_view data) {
  Reader reader(data);
  GuardEvent event;
  event.kind = static_cast<GuardEvent::Kind>(reader.number());
  event.id = static_cast<std::uint32_t>(reader.number());
  event.pid = static_cast<pid_t>(reader.number());
  event.stamp = static_cast<std::int64_t>(reader.number());
  const bool has_status = reader.number() != 0;
  const int raw = static_cast<int>(reader.number());
  if (has_status) event.status = WaitStatus::from_raw(raw);
  event.count = static_cast<int>(reader.number());
  event.error = static_cast<int>(reader.number());
  event.text = reader.text();
  if (!reader.ok()) return plain_error("read a guard's event", "it is cut");
  return event;
}

Result<void> send_message(const Fd& socket, std::string_view data, const Fd& attached, Block block) {
  char where = in_packet;
  Fd memory;
  int descriptor = attached.get();
  if (data.size() > packet_limit) {
    JITRACE_CHECK(!attached);
    memory = Fd(::memfd_create("jitrace-message", MFD_CLOEXEC));
    if (!memory) return last_error("create a memory file");
    TRY(write_all(memory, data, "a memory file"));
    where = in_memfd;
    descriptor = memory.get();
    data = {};
  }
  std::array<iovec, 2> parts = {iovec{&where, 1}, iovec{const_cast<char*>(data.data()), data.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  for (;;) {
    if (::sendmsg(socket.get(), &message, MSG_NOSIGNAL | (block == Block::no ? MSG_DONTWAIT : 0)) >= 0) return {};
    if (errno != EINTR) return last_error("send to the other end of a guard's socket");
  }
}

Result<std::optional<Message>> receive_message(const Fd& socket) {
  std::array<char, packet_limit + 1> buffer;
  iovec part{buffer.data(), buffer.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t n = 0;
  while ((n = ::recvmsg(socket.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (n < 0 && errno == EAGAIN) return std::optional<Message>();
  if (n < 0) return last_error("receive from the other end of a guard's socket");
  if (n == 0) return make_error("receive from the other end of a guard's socket", {}, EPIPE);
  Message message;
  if (const cmsghdr* first = CMSG_FIRSTHDR(&header); first != nullptr && first->cmsg_type == SCM_RIGHTS) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(first), sizeof(int));
    message.attached = Fd(descriptor);
  }
  if (buffer[0] == in_packet) {
    message.data.assign(buffer.data() + 1, static_cast<std::size_t>(n) - 1);
    return std::optional(std::move(message));
  }
  struct stat s {};
  if (!message.attached || ::fstat(message.attached.get(), &s) != 0) return last_error("stat a memory file");
  void* memory = ::mmap(nullptr, static_cast<std::size_t>(s.st_size), PROT_READ, MAP_SHARED, message.attached.get(), 0);
  if (memory == MAP_FAILED) return last_error("map a memory file");
  message.data.assign(static_cast<const char*>(memory), static_cast<std::size_t>(s.st_size));
  ::munmap(memory, static_cast<std::size_t>(s.st_size));
  message.attached.close();
  return std::optional(std::move(message));
}

}  // namespace jitrace::guard_wire
