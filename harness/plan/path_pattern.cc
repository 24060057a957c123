#include <algorithm>
#include <array>
#include <string_view>

#include "plan/recording.h"

namespace jitrace {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool upper(char c) { return c >= 'A' && c <= 'Z'; }
bool alnum(char c) { return digit(c) || lower(c) || upper(c); }
bool hex_digit(char c) { return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool separator(char c) { return c == '.' || c == '_' || c == '-'; }

template <class Is>
bool all(std::string_view text, Is is) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is);
}

// Kinds of letters in a row: "avx512" has two, "aB3dE9" six.
int changes_of_kind(std::string_view text) {
  const auto kind = [](char c) { return digit(c) ? 0 : lower(c) ? 1 : 2; };
  int changes = 0;
  for (std::size_t i = 1; i < text.size(); ++i) changes += kind(text[i]) != kind(text[i - 1]) ? 1 : 0;
  return changes;
}

// "fatbin", "README", "Config", "sha256", "F16": a word, and maybe a number behind it.
bool word(std::string_view text) {
  const bool capital = upper(text[0]) && text.size() > 1 && lower(text[1]);
  std::string_view rest = text.substr(capital ? 1 : 0);
  const bool small = lower(rest[0]);
  const auto letters = std::find_if_not(rest.begin(), rest.end(), small ? lower : upper);
  return letters != rest.begin() && std::all_of(letters, rest.end(), digit);
}

// "OpMath", "opMath".
bool camel_case(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (digit(text[i])) return false;
    if (upper(text[i]) && (i + 1 == text.size() || !lower(text[i + 1]))) return false;
  }
  return true;
}

// The XXXXXX of mkstemp. Nine of ten of them look like nothing else; people write "kernel_bf16x2" and "nvOpMath" behind
// '_' and '-', hardly ever behind a dot.
enum class Names { plain, also_with_humps };
bool random_six(std::string_view text, Names names) {
  if (text.size() != 6 || !all(text, alnum) || word(text)) return false;
  if (names == Names::plain) return true;
  return changes_of_kind(text) >= 2 && std::any_of(text.begin(), text.end(), upper) && !camel_case(text);
}

// A random number in hex, such as os.urandom(8).hex(). As long as a digest it may be one, of contents that stay, and
// without a digit it may be a word; but hardly in a name that has a pid or the like in it, which never comes again.
enum class Beside { nothing, what_varies };
bool random_hex(std::string_view text, Beside beside) {
  if (text.size() < 8 || !all(text, hex_digit) || all(text, digit)) return false;
  if (beside == Beside::what_varies) return true;
  const bool as_a_digest = text.size() == 32 || text.size() == 40 || text.size() == 64;
  return !as_a_digest && std::any_of(text.begin(), text.end(), digit);
}

// 8-4-4-4-12 hex digits at the start.
constexpr std::size_t uuid_size = 36;
bool starts_with_uuid(std::string_view text) {
  if (text.size() < uuid_size || (text.size() > uuid_size && alnum(text[uuid_size]))) return false;
  for (std::size_t i = 0; i < uuid_size; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !hex_digit(text[i])) return false;
  }
  return true;
}

// Numbers that name a thing: sm_100, cpython-311, sha_512.
bool numbered_thing(std::string_view before) {
  static constexpr std::array things = std::to_array<std::string_view>(
      {"sm", "compute", "arch", "gfx", "cpython", "python", "pypy", "py", "sha", "cuda", "glibc"});
  return std::find(things.begin(), things.end(), before) != things.end();
}

// How much of the start of a component is a temporary name by the habit of one program, and the text for it.
struct Habit {
  std::size_t size = 0;
  std::string pattern;
};

Habit habit_of(std::string_view name) {
  // The kernel's name for an anonymous file (O_TMPFILE) is its inode: "#11552437 (deleted)".
  if (const std::size_t digits = name.find_first_not_of("0123456789", 1); name.starts_with('#') && digits > 1) {
    return {std::min(digits, name.size()), "#"};
  }
  const std::string_view stem = name.substr(0, name.find('.'));
  const std::string_view ending = name.substr(stem.size());
  const auto python = [](char c) { return lower(c) || digit(c) || c == '_'; };
  if (stem.size() == 11 && stem.starts_with("tmp") && all(stem.substr(3), python)) return {11, "tmp#"};
  if (stem.starts_with("tmpxft_") && stem.size() >= 15 && all(stem.substr(7, 8), hex_digit)) return {15, "tmpxft_#"};
  if (name.starts_with(".nfs") && name.size() > 12 && all(name.substr(4), hex_digit)) return {name.size(), ".nfs#"};
  if (name.starts_with("tmp.") && name.size() == 14 && all(name.substr(4), alnum)) return {14, "tmp.#"};  // mktemp(1)
  if (stem.size() == 8 && stem.starts_with("cc") && all(stem.substr(2), alnum)) {
    static constexpr std::array only_gcc = std::to_array<std::string_view>({".s", ".res", ".le", ".ld"});
    const bool certain = std::find(only_gcc.begin(), only_gcc.end(), ending) != only_gcc.end();
    if (certain || random_six(stem.substr(2), Names::plain)) return {8, "cc#"};
  }
  for (const std::string_view prefix : {"sed", "st", "tmp"}) {  // sed -i, strip and objcopy, tmpfile
    if (!stem.starts_with(prefix) || stem.size() != prefix.size() + 6) continue;
    if (random_six(stem.substr(prefix.size()), Names::also_with_humps)) return {stem.size(), std::string(prefix) + "#"};
  }
  return {};
}

// Parts between separators, from left to right.
class Component {
 public:
  Component(std::string_view name, Beside beside) : name_(name), beside_(beside) {}

  std::string pattern() {
    Habit habit = habit_of(name_);
    std::string result = std::move(habit.pattern);
    for (std::size_t at = habit.size; at < name_.size();) {
      if (separator(name_[at])) {
        result += name_[at++];
        continue;
      }
      if ((at == 0 || separator(name_[at - 1])) && starts_with_uuid(name_.substr(at))) {
        result += '#';
        at += uuid_size;
        continue;
      }
      const std::size_t end = std::min(name_.find_first_of("._-", at), name_.size());
      const std::string_view part = name_.substr(at, end - at);
      result += varies(part, at) ? "#" : std::string(part);
      before_ = part;
      at = end;
    }
    return result;
  }

 private:
  bool varies(std::string_view part, std::size_t at) {
    if (part == "so" && name_.starts_with("lib")) behind_so_ = true;
    if (all(part, digit)) return part.size() >= 3 && !numbered_thing(before_) && !version(part);
    if (random_hex(part, beside_)) return true;
    if (at == 0) return false;
    // ccache's "stats.tmp.ufcycp.tmp": between its marks a word is none.
    const std::string_view behind = name_.substr(at + part.size());
    if (before_ == "tmp" && name_[at - 1] == '.' && part.size() == 6 && all(part, alnum)) return behind.empty() || behind.starts_with('.');
    return random_six(part, name_[at - 1] == '.' ? Names::plain : Names::also_with_humps);
  }

  // libnvrtc.so.13.0.880, libabsl_base.so.20220623; a pid behind "libext.so." is neither.
  bool version(std::string_view number) const {
    const bool date = number.size() == 8 && (number.starts_with("19") || number.starts_with("20"));
    return behind_so_ && (number.size() == 3 || date);
  }

  std::string_view name_;
  Beside beside_;
  std::string_view before_;  // the part before the one that is looked at
  bool behind_so_ = false;
};

std::string pattern_of(std::string_view name) {
  const std::string pattern = Component(name, Beside::nothing).pattern();
  return pattern.find('#') == std::string::npos ? pattern : Component(name, Beside::what_varies).pattern();
}

}  // namespace

bool is_temporary_name(std::string_view name) {
  const Habit habit = habit_of(name);
  if (habit.size == 0) return false;
  // A word may be one that somebody chose: "tmpbuilding.lock", "cclock".
  const std::string_view stem = name.substr(0, habit.size);
  return std::any_of(stem.begin(), stem.end(), [](char c) { return digit(c) || upper(c); });
}

std::string path_pattern(const std::string& path) {
  std::string result;
  std::string_view rest = path;
  for (;;) {
    const std::size_t slash = rest.find('/');
    result += pattern_of(rest.substr(0, slash));
    if (slash == std::string_view::npos) return result;
    result += '/';
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace jitrace
