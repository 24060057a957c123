#include "cli/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "loader/loader.h"

namespace jitrace {
namespace {

// The value after `name` and a colon or an equals sign, in a file of such lines.
std::string value_in(const std::string& path, const std::string& name) {
  const auto text = read_file(path);
  if (!text) return {};
  for (const std::string& line : split(*text, '\n')) {
    if (!line.starts_with(name)) continue;
    const std::size_t at = line.find_first_of(":=");
    if (at == std::string::npos) continue;
    const std::size_t from = line.find_first_not_of(" \t\"", at + 1);
    if (from == std::string::npos) return {};
    return line.substr(from, line.find_last_not_of(" \t\"") - from + 1);
  }
  return {};
}

// As the kernel writes what would end a word: "\\040" for a blank.
std::string without_octal(const std::string& text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool coded = text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) && octal(text[i + 3]);
    if (!coded) {
      out += text[i];
      continue;
    }
    out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return out;
}

std::string real_path(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string text = resolved;
  std::free(resolved);
  return text;
}

}  // namespace

std::map<std::string, std::string> describe_machine() {
  std::map<std::string, std::string> machine;
  utsname names{};
  if (::uname(&names) == 0) machine["kernel"] = std::string(names.sysname) + " " + names.release + " " + names.machine;
  machine["cpu"] = value_in("/proc/cpuinfo", "model name");
  machine["cpus"] = std::to_string(::sysconf(_SC_NPROCESSORS_ONLN));
  machine["memory"] = value_in("/proc/meminfo", "MemTotal");
  machine["system"] = value_in("/etc/os-release", "PRETTY_NAME");
  std::string driver = "none";
  if (const auto version = read_file("/proc/driver/nvidia/version")) driver = version->substr(0, version->find('\n'));
  machine["driver"] = driver;
  for (const LoaderProbe& loader : find_loaders()) {
    if (loader.name == "cuda") machine["gpus"] = loader.usable ? loader.reason : "none";
  }
  return machine;
}

CacheInfo describe_cache(const std::string& directory) {
  CacheInfo info;
  info.dir = directory;
  const std::string path = real_path(directory);
  const auto mounts = read_file("/proc/self/mountinfo");
  if (!mounts) return info;
  std::size_t longest = 0;
  for (const std::string& line : split(*mounts, '\n')) {
    // id parent major:minor root mount-point options … - type source super-options
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() < 10) continue;
    const std::string point = without_octal(words[4]);
    const bool below = point == "/" || path == point || path.starts_with(point + "/");
    if (!below || point.size() < longest) continue;
    longest = point.size();
    for (std::size_t i = 6; i + 3 < words.size() + 1; ++i) {
      if (words[i] != "-" || i + 3 >= words.size()) continue;
      info.fs = words[i + 1];
      info.options = words[5] + "," + words[i + 3];
      break;
    }
  }
  return info;
}

}  // namespace jitrace
