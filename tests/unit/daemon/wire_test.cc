#include <gtest/gtest.h>
#include <sys/stat.h>

#include "strategy/daemon_wire.h"
#include "unit/strategy/recorder.h"

namespace jitrace {
namespace {

DaemonRequest sample() {
  DaemonRequest request;
  request.key = 3;
  request.kernel = "axpy";
  request.arch = "sm_90a";
  request.toolchain = "nvcc";
  request.toolchain_name = "nvcc@/opt/cuda";
  request.source = "line 1\nline\t2\\ \"quoted\"\n";
  request.attempt = 0xfeedfacecafebeefULL;
  request.argv = {"nvcc", "-o", "{output}", "{source}", "with space", ""};
  request.environment = {"A=1", "B=two\nlines"};
  request.directory = "/x y";
  return request;
}

TEST(DaemonWire, RequestSurvivesTheRoundTrip) {
  const Result<DaemonRequest> read = DaemonRequest::parse(sample().text());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->text(), sample().text());
  EXPECT_EQ(read->argv, sample().argv);
  EXPECT_EQ(read->environment, sample().environment);
  EXPECT_EQ(read->source, sample().source);
  EXPECT_EQ(read->attempt, sample().attempt);
}

TEST(DaemonWire, KernelThatIsAPathIsRefused) {
  DaemonRequest request = sample();
  request.kernel = "../../etc/passwd";
  EXPECT_FALSE(DaemonRequest::parse(request.text()));
  request.kernel = "";
  EXPECT_FALSE(DaemonRequest::parse(request.text()));
}

TEST(DaemonWire, FramesComeOutWholeHoweverTheyArrive) {
  const std::string stream = framed("first") + framed("") + framed(std::string(100'000, 'x'));
  std::string buffer;
  std::vector<std::string> frames;
  for (const char byte : stream) {
    buffer += byte;
    const Result<std::optional<std::string>> frame = take_frame(&buffer);
    ASSERT_TRUE(frame);
    if (*frame) frames.push_back(**frame);
  }
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0], "first");
  EXPECT_EQ(frames[1], "");
  EXPECT_EQ(frames[2].size(), 100'000u);
  EXPECT_TRUE(buffer.empty());
}

TEST(DaemonWire, AbsurdLengthIsRefused) {
  std::string buffer = "\xff\xff\xff\x7f----";
  EXPECT_FALSE(take_frame(&buffer));
}

// 108 bytes is the limit of a socket's name.
TEST(DaemonWire, SocketInADeepDirectoryIsReachedAndPrivate) {
  const Bench bench;
  const std::string deep = bench.job.root + "/" + std::string(100, 'd') + "/" + std::string(100, 'e');
  ASSERT_TRUE(make_dirs(deep));
  const std::string path = daemon_socket_path(deep);
  ASSERT_GT(path.size(), 108u);
  ASSERT_TRUE(write_file(path, "left by a dead server"));
  const Result<Fd> listener = listen_at(path);
  ASSERT_TRUE(listener) << listener.error().message();
  struct stat s {};
  ASSERT_EQ(::stat(path.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 07777, 0600u);
  const Result<Fd> client = connect_to(path);
  ASSERT_TRUE(client) << client.error().message();
  EXPECT_TRUE(peer_is_same_user(*client));
}

TEST(DaemonWire, NobodyListensIsAnErrorAtOnce) {
  const Bench bench;
  EXPECT_FALSE(connect_to(bench.job.root + "/absent.sock"));
}

}  // namespace
}  // namespace jitrace
