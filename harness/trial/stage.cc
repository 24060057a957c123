#include "trial/stage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "event/board.h"
#include "event/checksum.h"
#include "process/process.h"
#include "strategy/layout.h"
#include "strategy/preset.h"
#include "toolchain/artifact.h"

namespace jitrace {
namespace {

Result<Layout> layout_for(const Plan& plan, const Setup& setup, const Stage& stage, const std::string& preset,
                          std::size_t key) {
  const Preset* row = find_preset(preset);
  if (row == nullptr) return plain_error("find preset", preset);
  const auto ready = setup.toolchains.find(plan.toolchain);
  if (ready == setup.toolchains.end()) return plain_error("find toolchain", plan.toolchain);
  return layout_of(*row, stage.cache_dir, plan.kernels.at(key), plan.arch, ready->second.toolchain.kind);
}

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

Result<void> cut_file(const std::string& path, const std::string& how) {
  TRY_ASSIGN(const std::uint64_t size, file_size(path));
  const std::uint64_t left = how == "empty" ? 0 : size / 2;
  if (::truncate(path.c_str(), static_cast<off_t>(left)) != 0) return last_error("cut", path);
  return {};
}

Result<void> damage_file(const std::string& path, const std::string& how) {
  if (how == "remove") return remove_tree(path);
  if (how == "cut" || how == "empty") return cut_file(path, how);
  if (how == "replace") return write_file(path, "this is no artifact\n");
  return plain_error("damage " + path, "\"" + how + "\" is not known");
}

// An entry as an earlier run would have left it: made by the preset itself, nobody else being there.
Result<void> build_entry(const Plan& plan, const Setup& setup, const Stage& stage) {
  WorkerPlan alone = plan.workers.front();
  alone.action = "get";
  WorkerSpec spec = worker_spec(plan, setup, stage, 0, 0, 1, alone);
  // An earlier run leaves no events in this one: it has a board of its own, which nobody reads.
  spec.board = join(stage.lane_dir, "board.before");
  TRY_ASSIGN(const Board board, Board::create(spec.board, {256, 4096}, 1));
  spec.control = join(stage.lane_dir, "control.before");
  if (::mkfifo(spec.control.c_str(), 0600) != 0) return last_error("create fifo", spec.control);
  spec.round = 0;
  spec.seed = derive_seed(plan.seed, 0xe);
  const std::string path = join(stage.lane_dir, "spec.before");
  TRY(make_dirs(spec.scratch));
  TRY(write_file(path, spec.text()));
  Command command;
  command.argv = {join(setup.libexec, "worker"), path};
  command.environment = worker_environment(stage, 0);
  command.directory = stage.lane_dir;
  TRY_ASSIGN(const Finished finished, run_kept(keeper_for(setup, plan), command));
  if (!finished.status.is_exit(0)) {
    return plain_error("build the entry of an earlier run", finished.status.describe() + ": " + finished.output);
  }
  return {};
}

std::string state_of(const std::string& bytes, const ArtifactView& view, std::uint64_t reference) {
  if (view.mixed) return "foreign: holds the stamps of two attempts";
  if (view.fake && !view.whole) return "torn: its checksum does not hold";
  if (bytes.empty()) return "torn: empty";
  if (reference != 0 && view.masked_digest != reference) return "torn: differs from the reference compile";
  return "intact";
}

}  // namespace

Result<std::string> expand_path(const Plan& plan, const Setup& setup, const Stage& stage, const std::string& preset,
                                const std::string& path) {
  if (path.empty()) return stage.cache_dir;
  TRY_ASSIGN(const Layout layout, layout_for(plan, setup, stage, preset, 0));
  std::string full = replace_all(path, "{entry}", layout.entry);
  full = replace_all(full, "{artifact}", layout.artifact);
  full = replace_all(full, "{source}", layout.source);
  if (full.find("{lock}") != std::string::npos) {
    if (layout.locks.empty()) return plain_error("expand " + path, preset + " has no lock");
    // The innermost: a leftover that matters is the one that nobody but its dead owner would remove.
    full = replace_all(full, "{lock}", layout.locks.back());
  }
  if (!full.starts_with('/')) full = join(stage.cache_dir, full);
  if (full.find("/../") != std::string::npos || !full.starts_with(stage.cache_dir)) {
    return plain_error("expand " + path, "it leads out of the cache");
  }
  return full;
}

Result<Stage> set_stage(const Plan& plan, const Setup& setup, int lane) {
  Stage stage;
  stage.token = setup.run_id + "-" + hex(random_bits());
  const std::string name = "trial-" + std::to_string(lane) + "-" + stage.token.substr(stage.token.size() - 8);
  stage.lane_dir = join(setup.run_dir, name);
  stage.temp_dir = join(stage.lane_dir, "tmp");
  TRY(make_dirs(stage.temp_dir));
  for (int client = 0; client < plan.clients; ++client) {
    const auto& roots = setup.cache_roots;
    const std::string root = roots[static_cast<std::size_t>(client) % roots.size()];
    stage.client_dirs.push_back(join(root, name));
  }
  stage.cache_dir = stage.client_dirs.front();
  TRY(make_dirs(stage.cache_dir));
  return stage;
}

Result<void> prepare_cache(const Plan& plan, const Setup& setup, const Stage& stage) {
  const std::string& preset = plan.workers.front().preset;
  for (const BeforePlan& before : plan.before) {
    if (before.action == "entry") {
      TRY(build_entry(plan, setup, stage));
      continue;
    }
    TRY_ASSIGN(const std::string path, expand_path(plan, setup, stage, preset, before.path));
    if (before.action == "put") {
      TRY(make_dirs(parent_of(path)));
      TRY(write_file(path, before.content));
    } else {
      TRY(damage_file(path, before.action));
    }
  }
  return {};
}

Result<void> damage_path(const Plan& plan, const Setup& setup, const Stage& stage, const std::string& preset,
                         const std::string& path, const std::string& how) {
  TRY_ASSIGN(const std::string full, expand_path(plan, setup, stage, preset, path));
  if (full == stage.cache_dir && how == "remove") {
    // The root stays: it is the mount, or the directory that the user named.
    TRY_ASSIGN(const std::vector<std::string> names, list_dir(full));
    for (const std::string& name : names) TRY(remove_tree(join(full, name)));
    return {};
  }
  if (!exists(full)) return make_error("damage", full, ENOENT);
  return damage_file(full, how);
}

std::vector<std::string> worker_environment(const Stage& stage, int client) {
  return environment_with({"TMPDIR=" + stage.temp_dir, "CUDA_CACHE_PATH=" + join(stage.temp_dir, "cuda"),
                           "TORCH_EXTENSIONS_DIR=" + join(stage.temp_dir, "torch"),
                           "PYTHONPYCACHEPREFIX=" + join(stage.temp_dir, "pycache"),
                           "CCACHE_DIR=" + join(stage.temp_dir, "ccache"), "JITRACE_TOKEN=" + stage.token,
                           "JITRACE_CLIENT=" + std::to_string(client), "LC_ALL=C", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",
                           "NINJA_STATUS", "MAKEFLAGS"});
}

WorkerSpec worker_spec(const Plan& plan, const Setup& setup, const Stage& stage, Slot slot, int index, int round,
                       const WorkerPlan& worker) {
  const ReadyToolchain& ready = setup.toolchains.at(plan.toolchain);
  const BuildShape shape = shape_of(worker.preset, ready.toolchain);
  WorkerSpec spec;
  spec.board = join(stage.lane_dir, "board");
  spec.slot = slot;
  spec.index = index;
  spec.round = round;
  spec.preset = worker.preset;
  spec.action = round == 1 ? worker.action : "get";
  spec.cache = stage.client_dirs[static_cast<std::size_t>(worker.client) % stage.client_dirs.size()];
  spec.scratch = join(stage.lane_dir, "work." + std::to_string(slot));
  spec.control = join(stage.lane_dir, "control." + std::to_string(slot));
  spec.toolchain = ready.toolchain;
  spec.shadow = ready.shadow;
  spec.compiler = ready.compiler;
  spec.libexec = setup.libexec;
  spec.arch = plan.arch;
  spec.loader.kind = shape.kind == ArtifactKind::shared_object ? "dlopen"
                     : shape.kind == ArtifactKind::fake        ? "fake"
                                                               : plan.loader;
  spec.loader.device = plan.device;
  spec.loader.api = plan.load_api == "module" ? LoadApi::symbols_then_module : LoadApi::library;
  for (const std::string& kernel : plan.kernels) {
    KeySpec key;
    key.kernel = kernel;
    key.source = join(setup.kernel_dir, kernel + ".cu");
    const auto reference = setup.references.find(reference_key(plan.toolchain, kernel, plan.arch, shape.kind, shape.steps));
    key.reference = reference == setup.references.end() ? 0 : reference->second;
    spec.keys.push_back(std::move(key));
  }
  spec.gets = plan.gets;
  spec.client = worker.client;
  spec.clients = plan.clients;
  spec.rename = plan.rename;
  spec.bound_scale = plan.bound_scale;
  spec.fake_duration = plan.fake_duration;
  spec.seed = derive_seed(plan.seed, slot);
  return spec;
}

std::vector<SnapshotEntry> take_snapshot(const Plan& plan, const Setup& setup, const Stage& stage) {
  std::map<std::string, std::uint64_t> artifacts;  // path → reference
  for (std::size_t key = 0; key < plan.kernels.size(); ++key) {
    for (const WorkerPlan& worker : plan.workers) {
      const auto layout = layout_for(plan, setup, stage, worker.preset, key);
      if (!layout) continue;
      const auto reference =
          setup.references.find(reference_key(plan.toolchain, plan.kernels[key], plan.arch, layout->kind, layout->steps));
      artifacts[layout->artifact] = reference == setup.references.end() ? 0 : reference->second;
    }
  }
  std::vector<SnapshotEntry> entries;
  for (const std::string& name : list_tree(stage.cache_dir)) {
    SnapshotEntry& entry = entries.emplace_back();
    entry.path = name;
    if (name.ends_with('/')) continue;
    const std::string path = join(stage.cache_dir, name);
    const auto bytes = read_regular_file(path);
    if (!bytes) {
      entry.state = "unreadable: " + bytes.error().message();
      continue;
    }
    entry.size = bytes->size();
    entry.digest = checksum64(*bytes);
    if (const auto artifact = artifacts.find(path); artifact != artifacts.end()) {
      const ArtifactView view = view_artifact(*bytes);
      entry.attempt = view.attempt;
      entry.state = state_of(*bytes, view, artifact->second);
    }
  }
  return entries;
}

std::vector<SnapshotEntry> take_residue(const Stage& stage) {
  std::vector<SnapshotEntry> entries;
  for (const std::string& name : list_tree(stage.temp_dir)) {
    SnapshotEntry& entry = entries.emplace_back();
    entry.path = name;
    if (const auto size = file_size(join(stage.temp_dir, name)); size && !name.ends_with('/')) entry.size = *size;
  }
  return entries;
}

}  // namespace jitrace
