#include "cli/record.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/atomic_file.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/text.h"
#include "reports/console.h"

namespace jitrace {
namespace {

constexpr int record_version = 1;

// One item of a packed line; a run file that was edited or damaged may lack it.
Result<std::string> item(const std::map<std::string, std::string>& items, const std::string& name) {
  const auto found = items.find(name);
  if (found == items.end()) return plain_error("read run", "\"" + name + "\" is missing in a line of it");
  return found->second;
}

template <class T>
void add_optional(Fields& fields, const char* name, const std::optional<T>& value) {
  if (value) fields.add(name, static_cast<std::int64_t>(*value));
}

}  // namespace

// NO_COLOR: https://no-color.org, any value that is not empty.
Colour colour_for(WantColour wanted) {
  const char* none = std::getenv("NO_COLOR");
  const bool terminal = ::isatty(STDOUT_FILENO) == 1 && (none == nullptr || *none == '\0');
  return wanted == WantColour::always || (wanted == WantColour::automatic && terminal) ? Colour::always : Colour::never;
}

Result<void> save_record(const RunDir& run_dir, const Record& record, const std::string& scenario_path) {
  Fields fields("run", record_version);
  const Overrides& overrides = record.options.overrides;
  fields.add("scenario", record.scenario);
  fields.add("kernels", record.kernel_dir);
  for (const Toolchain& toolchain : record.toolchains) {
    fields.add("toolchain", pack({{"kind", std::string(name_of(toolchain.kind))},
                                  {"name", toolchain.name},
                                  {"program", toolchain.program},
                                  {"version", toolchain.version}}));
  }
  for (const std::string& loader : record.usable.loaders) fields.add("loader", loader);
  for (const auto& [name, value] : record.machine) fields.add("machine", pack({{"name", name}, {"value", value}}));
  fields.add("cache", pack({{"dir", record.cache.dir}, {"fs", record.cache.fs}, {"options", record.cache.options}}));
  if (record.options.skips == Skips::waived) fields.add("skips", "waived");
  add_optional(fields, "workers", overrides.workers);
  add_optional(fields, "trials", overrides.trials);
  add_optional(fields, "rounds", overrides.rounds);
  if (overrides.seed) fields.add("seed", hex(*overrides.seed));
  for (const std::string& strategy : overrides.strategies) fields.add("strategy", strategy);
  for (const std::string& toolchain : overrides.toolchains) fields.add("only_toolchain", toolchain);
  for (const std::string& dir : overrides.cache_dirs) fields.add("cache_dir", dir);
  if (overrides.loader) fields.add("only_loader", *overrides.loader);
  if (overrides.device) fields.add("device", *overrides.device);
  if (overrides.bound_scale) fields.add("bound_scale", std::to_string(*overrides.bound_scale));
  for (const auto& [cell, reason] : record.skipped) fields.add("skipped", pack({{"cell", cell}, {"reason", reason}}));
  fields.add("interrupted", std::int64_t{record.interrupted});
  TRY_ASSIGN(const std::string text, read_file(scenario_path));
  TRY(write_file_atomically(join(run_dir.path(), "scenario.toml"), text));
  return write_file_atomically(join(run_dir.path(), "run"), fields.text());
}

Result<Record> load_record(const RunDir& run_dir) {
  TRY_ASSIGN(const std::string text, read_file(join(run_dir.path(), "run")));
  TRY_ASSIGN(const Fields fields, Fields::parse(text, "run", record_version));
  Record record;
  TRY_ASSIGN(record.scenario, fields.get("scenario"));
  record.kernel_dir = fields.get_or("kernels", "");
  for (const std::string& line : fields.all("toolchain")) {
    TRY_ASSIGN(const auto items, unpack(line));
    Toolchain toolchain;
    TRY_ASSIGN(const std::string kind, item(items, "kind"));
    toolchain.kind = parse_toolchain_kind(kind).value_or(ToolchainKind::fake);
    TRY_ASSIGN(toolchain.name, item(items, "name"));
    TRY_ASSIGN(toolchain.program, item(items, "program"));
    TRY_ASSIGN(toolchain.version, item(items, "version"));
    record.usable.toolchains.push_back(toolchain.name);
    record.toolchains.push_back(std::move(toolchain));
  }
  record.usable.loaders = fields.all("loader");
  for (const std::string& line : fields.all("machine")) {
    TRY_ASSIGN(const auto items, unpack(line));
    TRY_ASSIGN(const std::string name, item(items, "name"));
    TRY_ASSIGN(record.machine[name], item(items, "value"));
  }
  TRY_ASSIGN(const std::string cache_line, fields.get("cache"));
  TRY_ASSIGN(const auto cache, unpack(cache_line));
  TRY_ASSIGN(record.cache.dir, item(cache, "dir"));
  TRY_ASSIGN(record.cache.fs, item(cache, "fs"));
  TRY_ASSIGN(record.cache.options, item(cache, "options"));
  record.options.skips = fields.get_or("skips", "") == "waived" ? Skips::waived : Skips::count;
  Overrides& overrides = record.options.overrides;
  if (const auto value = fields.get_int("workers")) overrides.workers = static_cast<int>(*value);
  if (const auto value = fields.get_int("trials")) overrides.trials = static_cast<int>(*value);
  if (const auto value = fields.get_int("rounds")) overrides.rounds = static_cast<int>(*value);
  if (const auto value = fields.get("seed")) overrides.seed = parse_hex(*value);
  overrides.strategies = fields.all("strategy");
  overrides.toolchains = fields.all("only_toolchain");
  overrides.cache_dirs = fields.all("cache_dir");
  if (const auto value = fields.get("only_loader")) overrides.loader = *value;
  if (const auto value = fields.get("device")) overrides.device = *value;
  if (const auto value = fields.get("bound_scale")) overrides.bound_scale = parse_real(*value);
  for (const std::string& line : fields.all("skipped")) {
    TRY_ASSIGN(const auto items, unpack(line));
    TRY_ASSIGN(const std::string cell, item(items, "cell"));
    TRY_ASSIGN(record.skipped[cell], item(items, "reason"));
  }
  record.interrupted = fields.get_or("interrupted", "0") == "1";
  return record;
}

Report make_report(const Scenario& scenario, const Record& record, const Campaign& campaign, const std::string& out) {
  Report report;
  report.scenario = scenario.name;
  report.about = scenario.about;
  report.machine = record.machine;
  for (const Toolchain& toolchain : record.toolchains) {
    if (toolchain.kind != ToolchainKind::fake) report.machine[toolchain.name] = toolchain.version;
  }
  report.seed = scenario.workload.seed;
  report.out = out;
  report.interrupted = record.interrupted;
  report.cells = campaign.cells();
  report.verdict = grade_of(report.cells, record.options.skips);
  return report;
}

std::unique_ptr<Progress> make_progress() {
  winsize size{};
  if (::isatty(STDERR_FILENO) != 1) return plain_progress(stderr);
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return terminal_progress(stderr, known ? size.ws_col : 80);
}

std::string console_text(const Report& report, WantColour colour) {
  ConsoleOptions options;
  options.colour = colour_for(colour);
  Report shown = report;
  shown.out = shown_path(shown.out);
  for (Cell& cell : shown.cells) {
    constexpr std::string_view replay = "jitrace replay ";
    cell.cache.dir = shown_path(cell.cache.dir);
    // One in quotes stays as it is.
    if (cell.replay.starts_with(replay)) cell.replay = std::string(replay) + shown_path(cell.replay.substr(replay.size()));
  }
  return render_console(shown, options);
}

}  // namespace jitrace
