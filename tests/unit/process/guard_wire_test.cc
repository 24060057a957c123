#include "process/guard_wire.h"

#include <sys/socket.h>

#include <cerrno>

#include "unit/process/fixture.h"

namespace jitrace {
namespace {

using namespace guard_wire;

std::pair<Fd, Fd> socket_pair() {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

TEST(GuardWire, NumbersAndTextsComeBack) {
  Writer writer;
  writer.number(0).number(~std::uint64_t{0}).text("").text(std::string("a\0b", 3)).texts({"x", "", "y z"});
  Reader reader(writer.data());
  EXPECT_EQ(reader.number(), 0u);
  EXPECT_EQ(reader.number(), ~std::uint64_t{0});
  EXPECT_EQ(reader.text(), "");
  EXPECT_EQ(reader.text(), std::string("a\0b", 3));
  EXPECT_EQ(reader.texts(), (std::vector<std::string>{"x", "", "y z"}));
  EXPECT_TRUE(reader.ok());
  reader.number();
  EXPECT_FALSE(reader.ok());
}

TEST(GuardWire, ACutMessageIsRefusedAtEveryLength) {
  GuardEvent event;
  event.kind = GuardEvent::Kind::ended;
  event.status = WaitStatus::killed(9);
  event.text = "some arguments";
  const std::string whole = encode(event);
  EXPECT_TRUE(decode(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) EXPECT_FALSE(decode(whole.substr(0, length)));
  // A length that lies beyond the end.
  EXPECT_EQ(Reader(Writer().number(~std::uint64_t{0}).data()).texts().size(), 1u);
}

TEST(GuardWire, EventsComeBack) {
  for (const auto kind : {GuardEvent::Kind::started, GuardEvent::Kind::not_started, GuardEvent::Kind::adopted}) {
    GuardEvent event;
    event.kind = kind;
    event.id = 0xffffffff;
    event.pid = 123;
    event.stamp = -5;
    event.error = ENOENT;
    event.count = 7;
    event.text = "t";
    const GuardEvent back = decode(encode(event)).value();
    EXPECT_EQ(back.kind, kind);
    EXPECT_EQ(back.id, event.id);
    EXPECT_EQ(back.pid, 123);
    EXPECT_EQ(back.stamp, -5);
    EXPECT_EQ(back.error, ENOENT);
    EXPECT_EQ(back.count, 7);
    EXPECT_FALSE(back.status);
  }
}

TEST(GuardWire, MessagesOfAllSizesPassWhole) {
  const auto [a, b] = socket_pair();
  EXPECT_FALSE(receive_message(b).value());
  for (const std::size_t size : {0u, 1u, 32767u, 32768u, 32769u, 5'000'000u}) {
    const std::string data(size, 'd');
    ASSERT_TRUE(send_message(a, data, Fd(), Block::yes));
    const auto message = receive_message(b);
    ASSERT_TRUE(message && *message);
    EXPECT_EQ((*message)->data, data);
    EXPECT_FALSE((*message)->attached);
  }
}

TEST(GuardWire, AFullSocketSendsNothing) {
  const auto [a, b] = socket_pair();
  const std::string data(30'000, 'd');
  int sent = 0;
  for (;; ++sent) {
    ASSERT_LT(sent, 100'000);
    const auto result = send_message(a, data, Fd(), Block::no);
    if (!result) {
      EXPECT_EQ(result.error().code, EAGAIN);
      break;
    }
  }
  int received = 0;
  while (*receive_message(b)) ++received;
  EXPECT_EQ(received, sent);
}

TEST(GuardWire, TheOtherEndsDeathIsAnError) {
  auto [a, b] = socket_pair();
  a.close();
  EXPECT_FALSE(receive_message(b));
  EXPECT_EQ(send_message(b, "x", Fd(), Block::yes).error().code, EPIPE);
}

}  // namespace
}  // namespace jitrace
