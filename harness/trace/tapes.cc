#include "trace/tapes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "process/proc.h"
#include "trace/tracee_memory.h"

namespace jitrace {
namespace {

// Of gcc, binutils and CUDA: none of them starts another program. (clang compiles and links within its driver.)
constexpr std::array leaves = std::to_array<std::string_view>(
    {"cc1", "cc1plus", "lto1", "as", "ld", "ld.bfd", "ld.gold", "cudafe++", "cicc", "ptxas", "fatbinary", "nvlink"});
// What they go by besides their arguments and files.
constexpr std::array read_variables = std::to_array<std::string_view>(
    {"CPATH=", "C_INCLUDE_PATH=", "CPLUS_INCLUDE_PATH=", "LIBRARY_PATH=", "LD_LIBRARY_PATH=", "LD_RUN_PATH=",
     "LD_PRELOAD=", "SOURCE_DATE_EPOCH=", "GCC_EXEC_PREFIX=", "COMPILER_PATH=", "DEPENDENCIES_OUTPUT=",
     "SUNPRO_DEPENDENCIES=", "LANG=", "LC_ALL=", "LC_MESSAGES=", "LC_CTYPE="});
constexpr std::size_t most_words = 65536;
constexpr std::uint64_t red_zone = 128;  // below the stack pointer, in use

// Also with a target before it: x86_64-linux-gnu-as.
bool is_leaf(const std::string& path) {
  const std::string name = base_of(path);
  return std::ranges::any_of(leaves, [&name](std::string_view leaf) {
    return name == leaf ||
           (name.ends_with(leaf) && name.size() > leaf.size() && name[name.size() - leaf.size() - 1] == '-');
  });
}

std::optional<std::vector<std::string>> words_at(const TraceeMemory& memory, std::uint64_t address) {
  std::vector<std::string> words;
  for (; words.size() < most_words; address += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    if (!memory.read(address, &word, sizeof word)) return std::nullopt;
    if (word == 0) return words;
    auto text = memory.read_string(word);
    if (!text) return std::nullopt;
    words.push_back(std::move(*text));
  }
  return std::nullopt;
}

std::string link_of(pid_t thread, const char* name) {
  char target[PATH_MAX];
  const std::string entry = "/proc/" + std::to_string(thread) + "/" + name;
  const ssize_t n = ::readlink(entry.c_str(), target, sizeof target);
  return n < 0 ? std::string() : std::string(target, static_cast<std::size_t>(n));
}

// What comes in by it no digest tells: only /dev/null, or a terminal, that a compiler does not read.
bool has_input(pid_t thread) {
  struct stat info {};
  const std::string entry = "/proc/" + std::to_string(thread) + "/fd/0";
  return ::stat(entry.c_str(), &info) == 0 && !S_ISCHR(info.st_mode);
}

std::optional<TapeKey> key_of(pid_t thread, const Call& call) {
  const TraceeMemory memory(thread);
  TapeKey key;
  key.directory = link_of(thread, "cwd");
  if (link_of(thread, "root") != "/" || key.directory.empty()) return std::nullopt;
  key.program = call.path.starts_with('/') ? call.path : join(key.directory, call.path);
  struct stat info {};
  if (::stat(key.program.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  auto arguments = words_at(memory, call.raw.args[1]);
  const auto environment = words_at(memory, call.raw.args[2]);
  if (!arguments || !environment) return std::nullopt;
  key.arguments = std::move(*arguments);
  std::string temporary = "/tmp";
  for (const std::string& variable : *environment) {
    if (variable.starts_with("TMPDIR=")) temporary = variable.substr(7);
    const bool read =
        std::ranges::any_of(read_variables, [&](std::string_view name) { return variable.starts_with(name); });
    if (read) key.environment.push_back(variable);
  }
  std::ranges::sort(key.environment);
  key.names = TapeNames::of(key.arguments, temporary);
  return key;
}

}  // namespace

Result<void> Tapes::before_exec(pid_t thread, int process, Registers regs, const Call& call) {
  starting_.erase(process);
  to_play_.erase(process);
  if (call.raw.number != SYS_execve || !is_leaf(call.path) || has_input(thread)) return {};
  auto key = key_of(thread, call);
  if (!key) return {};
  add_stems_of_parents(thread, key->names);
  const auto player = use_ == Use::learn_and_play ? store_.find(*key) : std::nullopt;
  if (!player) {
    starting_[process] = std::make_unique<TapeLearner>(std::move(*key));
    return {};
  }
  // Where nothing lies, be it the stack that a vfork shares with its parent.
  const std::uint64_t at = (regs.stack() - red_zone - player->size() - 1) & ~std::uint64_t{15};
  if (!TraceeMemory(thread).write(at, player->c_str(), player->size() + 1)) return {};
  regs.set_argument(0, at);
  to_play_.insert(process);
  return regs.write(thread);
}

// nvcc's intermediate files name each other in their contents, and so does what comes of them, where the arguments no
// longer do: by tmpxft_, the number of nvcc's process, and another.
void Tapes::add_stems_of_parents(pid_t pid, TapeNames& names) {
  for (const std::string& name : names.values()) {
    if (name.starts_with("tmpxft_") && std::ranges::find(stems_, name) == stems_.end()) stems_.push_back(name);
  }
  for (auto status = proc_stat(pid); status && status->parent > 1; status = proc_stat(status->parent)) {
    const std::string number = hex(static_cast<std::uint64_t>(status->parent)).substr(8);
    for (const std::string& stem : stems_) {
      if (stem.starts_with("tmpxft_" + number)) names.add(stem);
    }
  }
}

bool Tapes::replaced(int process) {
  learners_.erase(process);  // a leaf that became another program was none
  if (auto starting = starting_.extract(process)) learners_.insert(std::move(starting));
  return to_play_.erase(process) > 0;
}

void Tapes::ended(int process, WaitStatus status) {
  starting_.erase(process);
  const auto found = learners_.extract(process);
  if (!found) return;
  TapeLearner& learner = *found.mapped();
  if (!status.is_exit(0)) learner.refuse("it ended with " + status.describe());
  const auto tape = learner.finish();
  if (tape) {
    const auto added = store_.add(learner.key(), *tape);
    if (!added) learner.refuse(added.error().message());
  }
  if (!learner.refused().empty()) store_.refused(base_of(learner.key().program), learner.refused());
}

void Tapes::before(int process, pid_t thread, const Call& call) { learners_.at(process)->before(thread, call); }

void Tapes::at_cache(int process, pid_t thread) { learners_.at(process)->at_cache(thread); }

void Tapes::after(int process, pid_t thread, std::int64_t result) {
  if (const auto found = learners_.find(process); found != learners_.end()) found->second->after(thread, result);
}

void Tapes::refuse(int process, const std::string& why) {
  if (const auto found = learners_.find(process); found != learners_.end()) found->second->refuse(why);
}

}  // namespace jitrace
