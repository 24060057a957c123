#include <algorithm>

#include <fmt/format.h>

#include "scenario/sections.h"

namespace jitrace {
namespace {

bool none_twice(const Word& word, std::string_view what, const std::vector<std::string>& before, Reading& reading) {
  if (std::find(before.begin(), before.end(), word.text) == before.end()) return true;
  reading.complaints.add(word.place, fmt::format("{} \"{}\" stands here twice", what, word.text));
  return false;
}

// The list of words under `key`, each one of the candidates (if there are any), none twice.
void read_names(TableReader& table, std::string_view key, std::string_view what, const std::vector<std::string>& candidates,
                Reading& reading, std::vector<std::string>& out) {
  const auto words = table.words(key);
  if (!words) return;
  std::vector<std::string> names;
  bool good = true;
  for (const Word& word : *words) {
    if (!(candidates.empty() ? good_name(word, reading) : one_of(word, what, candidates, reading))) good = false;
    if (none_twice(word, what, names, reading)) names.push_back(word.text);
  }
  if (good) out = std::move(names);
}

bool is_arch(const Word& word, Reading& reading) {
  const std::string& text = word.text;
  const bool good = text.size() > 3 && text.size() < 16 && text.starts_with("sm_") &&
                    std::all_of(text.begin() + 3, text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); });
  if (!good) reading.complaints.add(word.place, fmt::format("\"{}\" is no arch; one reads \"sm_90a\"", text));
  return good;
}

}  // namespace

void read_head(const Node* node, Reading& reading, Scenario& out) {
  TableReader table(node, "[scenario]", reading.complaints);
  if (const auto name = table.word("name"); name && good_name(*name, reading)) out.name = name->text;
  if (const auto about = table.word("about")) out.about = about->text;
  table.finish();
}

void read_workload(const Node* node, Reading& reading, Workload& out) {
  TableReader table(node, "[workload]", reading.complaints);
  const Catalogue& catalogue = reading.catalogue;
  read_names(table, "kernels", "kernel", catalogue.kernels, reading, out.kernels);
  if (const auto archs = table.words("archs")) {
    std::vector<std::string> names;
    for (const Word& arch : *archs) {
      if (is_arch(arch, reading) && none_twice(arch, "arch", names, reading)) names.push_back(arch.text);
    }
    out.archs = texts(*archs);
  }
  read_names(table, "toolchains", "toolchain", catalogue.toolchains, reading, out.toolchains);
  read_names(table, "each_toolchain", "toolchain", catalogue.toolchains, reading, out.each_toolchain);
  if (const auto loader = table.word("loader"); loader && one_of(*loader, "loader", catalogue.loaders, reading)) {
    out.loader = loader->text;
  }
  read_names(table, "load_apis", "load API", {"library", "module"}, reading, out.load_apis);
  if (const auto device = table.word("device"); device && (device->text.empty() || is_arch(*device, reading))) {
    out.device = device->text;
  }
  if (const auto mode = table.word("mode"); mode && one_of(*mode, "mode", {"gated", "free"}, reading)) {
    out.mode = mode->text;
  }
  if (auto workers = table.integers("workers", 1, 4096)) out.workers = std::move(*workers);
  if (auto keys = table.integers("keys", 0, 4096)) out.keys = std::move(*keys);
  if (const auto rounds = table.integer("rounds", 1, 1000)) out.rounds = *rounds;
  if (const auto gets = table.integer("gets", 1, 1'000'000)) out.gets = *gets;
  if (const auto trials = table.integer("trials", 1, 1'000'000)) out.trials = *trials;
  if (const auto seed = table.integer("seed", 0, 2'147'483'647)) out.seed = static_cast<std::uint64_t>(*seed);
  if (const auto scale = table.number("bound_scale", 1e-6, 1e3)) out.bound_scale = *scale;
  if (const auto fake = table.integer("fake_ms", 0, 600'000)) out.fake_duration = milliseconds(*fake);
  if (const auto watchdog = table.integer("watchdog_s", 1, 86'400)) out.watchdog = seconds(*watchdog);

  const auto not_empty = [&](std::string_view key, const std::vector<std::string>& list) {
    if (list.empty()) reading.complaints.add(table.place_of(key), fmt::format("\"{}\" names nothing to run with", key));
  };
  not_empty("kernels", out.kernels);
  not_empty("archs", out.archs);
  if (out.each_toolchain.empty()) not_empty("toolchains", out.toolchains);
  not_empty("load_apis", out.load_apis);
  for (const int keys : out.keys) {
    if (keys > static_cast<int>(out.kernels.size())) {
      reading.complaints.add(table.place_of("keys"), fmt::format("{} keys need as many kernels, and there are {}", keys,
                                                                  out.kernels.size()));
    }
  }
  table.finish();
}

void read_cache(const Node* node, Reading& reading, CacheSetup& out) {
  TableReader table(node, "[cache]", reading.complaints);
  if (const auto dirs = table.words("dirs")) {
    for (const Word& dir : *dirs) {
      if (dir.text.empty()) reading.complaints.add(dir.place, "a directory needs a name");
    }
    out.dirs = texts(*dirs);
  }
  if (const auto clients = table.integer("clients", 1, 64)) out.clients = *clients;
  if (const auto rename = table.word("rename"); rename && one_of(*rename, "rename", {"local", "nfs-busy"}, reading)) {
    out.rename = rename->text;
  }
  if (out.dirs.size() > 1 && out.clients != static_cast<int>(out.dirs.size())) {
    if (out.clients == 1) out.clients = static_cast<int>(out.dirs.size());
    else reading.complaints.add(table.place_of("dirs"), fmt::format("{} directories for {} clients: one, or one for each",
                                                                    out.dirs.size(), out.clients));
  }
  table.finish();
}

std::vector<std::string> preset_names(const Catalogue& catalogue) {
  std::vector<std::string> names;
  for (const auto& preset : catalogue.presets) names.push_back(preset.name);
  return names;
}

bool one_of(const Word& word, std::string_view what, const std::vector<std::string>& candidates, Reading& reading) {
  if (std::find(candidates.begin(), candidates.end(), word.text) != candidates.end()) return true;
  reading.complaints.add(word.place, unknown(what, word.text, candidates));
  return false;
}

bool good_name(const Word& word, Reading& reading) {
  const bool good = !word.text.empty() && word.text.size() <= 80 && word.text.front() != '.' && word.text.front() != ' ' &&
                    std::none_of(word.text.begin(), word.text.end(), [](char c) {
                      return c == '/' || c == '\\' || c == '*' || c == '"' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                    });
  if (!good) {
    reading.complaints.add(word.place, "a name is 1 to 80 characters, none of them / \\ * \" or a control character, and "
                                       "does not begin with a dot or a space");
  }
  return good;
}

bool good_path(const Word& word, Reading& reading) {
  const std::string& path = word.text;
  const bool good = !path.starts_with('/') && path != ".." && !path.starts_with("../") && !path.ends_with("/..") &&
                    path.find("/../") == std::string::npos && path.find('\0') == std::string::npos;
  if (!good) reading.complaints.add(word.place, fmt::format("\"{}\" leads out of the cache", path));
  return good;
}

std::vector<Word> read_filter(TableReader& table, std::string_view key) {
  auto words = table.words(key).value_or(std::vector<Word>{});
  if (std::any_of(words.begin(), words.end(), [](const Word& word) { return word.text == "*"; })) words.clear();
  return words;
}

std::vector<std::string> texts(const std::vector<Word>& words) {
  std::vector<std::string> out;
  for (const Word& word : words) out.push_back(word.text);
  return out;
}

}  // namespace jitrace
