#include "trace/tape_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/file.h"
#include "base/text.h"
#include "event/checksum.h"

namespace jitrace {
namespace {

constexpr int most_of_a_key = 32;                     // states of the inputs that a compiler is met with
constexpr std::size_t largest_with_names = 32 << 20;  // what is larger is a library, and holds no temporary name
constexpr std::int64_t second = 1'000'000'000, settled = 100'000'000;

std::int64_t ns(const timespec& time) { return time.tv_sec * second + time.tv_nsec; }

bool fits(const Tape& tape, const TapeKey& key) {
  if (!key.names.fits(tape.names)) return false;
  for (const TapeLook& look : tape.looks) {
    if (kind_of(key.names.particular(look.path)) != look.kind) return false;
  }
  return std::ranges::all_of(tape.inputs, [&key](const TapeInput& input) {
    const std::string path = key.names.particular(input.path);
    if (!input.identity.empty() && identity_of(path) == input.identity) return true;
    const auto digest = digest_of(path, key.names);
    return digest && *digest == input.digest;
  });
}

}  // namespace

std::uint64_t TapeKey::digest() const {
  std::string text = program + '\0' + directory;
  for (const auto* list : {&arguments, &environment}) {
    text += '\0';
    for (const std::string& word : *list) text += word + '\0';
  }
  return checksum64(names.general(std::move(text)));
}

std::string identity_of(const std::string& path) {
  struct stat info {};
  timespec now{};
  if (::stat(path.c_str(), &info) != 0 || ::clock_gettime(CLOCK_REALTIME, &now) != 0) return {};
  if (ns(now) - std::max(ns(info.st_mtim), ns(info.st_ctim)) < settled) return {};
  std::string text;
  for (const std::int64_t value : {static_cast<std::int64_t>(info.st_dev), static_cast<std::int64_t>(info.st_ino),
                                   static_cast<std::int64_t>(info.st_size), ns(info.st_mtim), ns(info.st_ctim)}) {
    text += (text.empty() ? "" : ":") + std::to_string(value);
  }
  return text;
}

Result<std::uint64_t> digest_of(const std::string& path, const TapeNames& names) {
  TRY_ASSIGN(std::string bytes, read_file(path));
  if (bytes.size() > largest_with_names) return checksum64(bytes);
  return checksum64(names.general(std::move(bytes)));
}

TapeLook::Kind kind_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return TapeLook::Kind::nothing;
  return S_ISREG(info.st_mode)   ? TapeLook::Kind::file
         : S_ISDIR(info.st_mode) ? TapeLook::Kind::directory
                                 : TapeLook::Kind::other;
}

std::optional<std::string> TapeStore::find(const TapeKey& key) const {
  const std::string prefix = join(directory_, hex(key.digest())) + "-";
  for (int number = 0; number < most_of_a_key; ++number) {
    const std::string at = prefix + std::to_string(number);
    const auto text = read_file(join(at, "head"));
    if (!text) return std::nullopt;
    const auto tape = Tape::parse_head(*text);
    if (tape && fits(*tape, key)) return playing_of(at, key);
  }
  return std::nullopt;
}

std::optional<std::string> TapeStore::playing_of(const std::string& tape, const TapeKey& key) const {
  std::string directory = join(tape, "XXXXXX");
  if (::mkdtemp(directory.data()) == nullptr) return std::nullopt;
  std::string link = join(directory, base_of(key.program));
  Tape names;
  names.names = key.names;
  if (::symlink(player_.c_str(), link.c_str()) != 0 || !write_file(join(directory, "names"), names.head()))
    return std::nullopt;
  return link;
}

Result<void> TapeStore::add(const TapeKey& key, const Tape& tape) const {
  const std::string name = hex(key.digest());
  const std::string fresh = join(directory_, "new-" + name + "-" + std::to_string(::getpid()));
  TRY(remove_tree(fresh));
  TRY(make_dirs(fresh));
  TRY(write_file(join(fresh, "head"), tape.head()));
  TRY(write_file(join(fresh, "body"), tape.body()));
  for (const auto& [handle, bytes] : tape.written) TRY(write_file(join(fresh, tape_bytes_file(handle)), bytes));
  for (int number = 0; number < most_of_a_key; ++number) {
    const std::string at = join(directory_, name + "-" + std::to_string(number));
    if (::rename(fresh.c_str(), at.c_str()) == 0) return {};
    if (errno != ENOTEMPTY && errno != EEXIST) return last_error("rename", fresh);
  }
  return remove_tree(fresh);
}

void TapeStore::refused(const std::string& program, const std::string& why) const {
  const auto file = open_fd(join(directory_, "refused"), O_WRONLY | O_CREAT | O_APPEND);
  if (file) (void)write_all(*file, program + ": " + why + "\n", "");
}

}  // namespace jitrace
