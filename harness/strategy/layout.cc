#include "strategy/layout.h"

#include "base/file.h"
#include "base/text.h"
#include "event/checksum.h"
#include "strategy/daemon_wire.h"

namespace jitrace {
namespace {

// The content hash of the mirrored systems covers name, flags, arch and source. The kernels of a run do not change, so
// name and arch tell all keys apart.
std::string digest_of(std::string_view kernel, std::string_view arch) {
  return hex(checksum64(std::string(kernel) + "$$" + std::string(arch)));
}

ArtifactKind artifact_kind(Family family, ToolchainKind toolchain) {
  if (toolchain == ToolchainKind::fake) return ArtifactKind::fake;
  if (toolchain == ToolchainKind::cxx) return ArtifactKind::shared_object;
  const bool torch = family == Family::torch || family == Family::fingerprint;
  return torch ? ArtifactKind::shared_object : ArtifactKind::cubin;
}

std::string lock_path(const LockChoice& lock, const Layout& layout, const std::string& root, const std::string& key) {
  if (lock.kind == LockKind::daemon) return daemon_lock_path(root);
  switch (lock.file) {
    case LockFile::inside_entry: return join(layout.entry, lock.name);
    case LockFile::beside_root: return layout.base + ".lock";
    case LockFile::locks_dir: return join(root + "/locks", lock.name.empty() ? key : lock.name);
  }
  return {};
}

}  // namespace

Layout layout_of(const Preset& preset, const std::string& root, std::string_view kernel, std::string_view arch,
                 ToolchainKind toolchain) {
  Layout layout;
  layout.kind = artifact_kind(preset.family, toolchain);
  const std::string name(kernel);
  std::string key;
  switch (preset.family) {
    case Family::torch:
    case Family::fingerprint: {
      layout.base = join(root, name);
      layout.entry = preset.family == Family::torch ? layout.base : join(layout.base, digest_of(kernel, arch));
      layout.source = join(layout.entry, name + ".cu");
      layout.object = join(layout.entry, name + ".cuda.o");
      layout.artifact = join(layout.entry, name + ".so");
      layout.steps = Steps::two;
      break;
    }
    case Family::deepgemm: {
      key = "kernel." + name + "." + digest_of(kernel, arch);
      layout.base = layout.entry = join(root + "/cache", key);
      layout.source = join(layout.entry, "kernel.cu");
      layout.artifact = join(layout.entry, layout.kind == ArtifactKind::shared_object ? "kernel.so" : "kernel.cubin");
      layout.temporary = join(root, "tmp");
      key += ".lock";
      break;
    }
    case Family::sound: {
      key = name + "." + digest_of(kernel, arch);
      layout.base = layout.entry = join(root + "/entries", key);
      layout.source = join(layout.entry, "kernel.cu");
      layout.artifact = join(layout.entry, layout.kind == ArtifactKind::shared_object ? "kernel.so" : "kernel.cubin");
      layout.manifest = join(layout.entry, "manifest");
      layout.temporary = join(root, "tmp");
      break;
    }
  }
  for (const LockChoice& lock : preset.locks) layout.locks.push_back(lock_path(lock, layout, root, key));
  return layout;
}

}  // namespace jitrace
