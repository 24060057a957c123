// Becomes a compiler of which there is a tape: started by the path of a link beside the names to go by, in the tape's
// directory.
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <string>

#include "base/file.h"
#include "trace/tape.h"

namespace {

using namespace jitrace;

constexpr std::size_t read_size = 64 * 1024;

class Player {
 public:
  Player(Tape tape, TapeNames names) : tape_(std::move(tape)), names_(std::move(names)) {}

  Result<void> load(const std::string& directory) {
    for (const TapeStep& step : tape_.steps) {
      if (step.op != TapeStep::Op::write || bytes_.contains(step.handle)) continue;
      TRY_ASSIGN(std::string bytes, read_file(join(directory, tape_bytes_file(step.handle))));
      bytes_[step.handle] = names_.translated(std::move(bytes), tape_.names);
    }
    return {};
  }

  Result<void> play() {
    for (const TapeStep& step : tape_.steps) TRY(make(step));
    return {};
  }

 private:
  int descriptor(int handle) const {
    const auto found = descriptors_.find(handle);
    return found != descriptors_.end() ? found->second : handle <= 2 ? handle : -1;
  }

  // A look, or the removal of what need not be there, may come out as it likes: the tape fits, so it comes out as it
  // did.
  Result<void> make(const TapeStep& step) {
    const std::string path = names_.particular(step.path);
    const int fd = descriptor(step.handle);
    const auto mode = static_cast<mode_t>(step.number < 0 ? 0 : step.number);
    struct stat info {};
    char target[4096];
    switch (step.op) {
      case TapeStep::Op::open: return open(step, path);
      case TapeStep::Op::write: return write(step, fd);
      case TapeStep::Op::close: (void)::close(fd); return {};
      case TapeStep::Op::truncate: return checked(::ftruncate(fd, step.number), "truncate", path);
      case TapeStep::Op::sync: (void)::fsync(fd); return {};
      case TapeStep::Op::mode: return checked(::fchmod(fd, mode), "change the mode of", path);
      case TapeStep::Op::mode_of_path: return checked(::chmod(path.c_str(), mode), "change the mode of", path);
      case TapeStep::Op::stat: (void)::stat(path.c_str(), &info); return {};
      case TapeStep::Op::look: (void)::lstat(path.c_str(), &info); return {};
      case TapeStep::Op::access: (void)::access(path.c_str(), static_cast<int>(mode)); return {};
      case TapeStep::Op::read_link: (void)!::readlink(path.c_str(), target, sizeof target); return {};
      case TapeStep::Op::unlink: (void)::unlink(path.c_str()); return {};
      case TapeStep::Op::remove_dir: (void)::rmdir(path.c_str()); return {};
      case TapeStep::Op::make_dir: (void)::mkdir(path.c_str(), mode); return {};
      case TapeStep::Op::rename:
        return checked(::rename(path.c_str(), names_.particular(step.path2).c_str()), "rename", path);
    }
    return {};
  }

  static Result<void> checked(int result, const char* what, const std::string& path) {
    if (result != 0) return last_error(what, path);
    return {};
  }

  Result<void> open(const TapeStep& step, const std::string& path) {
    const int flags = static_cast<int>(step.number);
    const int fd = ::open(path.c_str(), flags, static_cast<mode_t>(step.number2 < 0 ? 0 : step.number2));
    if (step.handle < 0) return {};  // it failed then, too
    if (fd < 0) return last_error("open", path);
    descriptors_[step.handle] = fd;
    if ((flags & O_ACCMODE) == O_RDONLY && (flags & (O_DIRECTORY | O_PATH)) == 0) {
      static std::array<char, read_size> buffer;
      (void)!::read(fd, buffer.data(), buffer.size());
    }
    return {};
  }

  Result<void> write(const TapeStep& step, int fd) {
    const std::string& bytes = bytes_.at(step.handle);
    std::size_t& from = done_[step.handle];
    const auto size = static_cast<std::size_t>(step.number2);
    if (from + size > bytes.size()) return plain_error("play a tape", "its bytes are missing");
    std::size_t left = size;
    off_t offset = step.number;
    do {
      const char* const at = bytes.data() + from + (size - left);
      const ssize_t n = step.number < 0 ? ::write(fd, at, left) : ::pwrite(fd, at, left, offset);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return last_error("write", "");
      left -= static_cast<std::size_t>(n);
      offset += n;
    } while (left > 0);
    from += size;
    return {};
  }

  Tape tape_;
  TapeNames names_;
  std::map<int, int> descriptors_;  // by handle
  std::map<int, std::string> bytes_;
  std::map<int, std::size_t> done_;
};

Result<void> play(const std::string& link) {
  const std::string directory = parent_of(parent_of(link));
  TRY_ASSIGN(const std::string own, read_file(join(parent_of(link), "names")));
  TRY_ASSIGN(const Tape run, Tape::parse_head(own));
  TRY_ASSIGN(const std::string text, read_file(join(directory, "body")));
  TRY_ASSIGN(Tape tape, Tape::parse_body(text));
  Player player(std::move(tape), run.names);
  TRY(player.load(directory));
  return player.play();
}

}  // namespace

int main(int argc, char** argv) {
  const auto* const link = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  const auto done = play(link != nullptr ? link : "");
  // Not through exit(): what a library does there is not on the tape.
  if (done) ::_exit(0);
  std::fprintf(stderr, "%s: %s\n", argc > 0 ? argv[0] : "tape", done.error().message().c_str());
  ::_exit(1);
}
