#include "trial/setup.h"

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "strategy/layout.h"
#include "strategy/preset.h"

namespace jitrace {

std::string reference_key(const std::string& toolchain, const std::string& kernel, const std::string& arch,
                          ArtifactKind kind, Steps steps) {
  return toolchain + "/" + kernel + "/" + arch + "/" + std::to_string(static_cast<int>(kind)) + "/" +
         std::to_string(static_cast<int>(steps));
}

BuildShape shape_of(const std::string& preset, const Toolchain& toolchain) {
  const Preset* row = find_preset(preset);
  if (row == nullptr) return {};
  const Layout layout = layout_of(*row, "/", "kernel", "arch", toolchain.kind);
  return {layout.kind, layout.steps};
}

Result<void> make_ready(Setup& setup, const Plan& plan, const Toolchain& toolchain) {
  if (!setup.toolchains.contains(toolchain.name)) {
    const std::string shadow = join(setup.run_dir, "toolkit-" + std::to_string(setup.toolchains.size()));
    TRY(make_dirs(shadow));
    TRY_ASSIGN(const std::string compiler, make_shadow(toolchain, shadow, setup.libexec));
    setup.toolchains[toolchain.name] = {toolchain, shadow, compiler};
  }
  for (const WorkerPlan& worker : plan.workers) {
    const BuildShape shape = shape_of(worker.preset, toolchain);
    for (const std::string& name : plan.kernels) {
      const std::string key = reference_key(toolchain.name, name, plan.arch, shape.kind, shape.steps);
      if (setup.references.contains(key)) continue;
      TRY_ASSIGN(const Kernel kernel, read_kernel(setup.kernel_dir, name));
      const std::string scratch = join(setup.run_dir, "reference-" + hex(random_bits()));
      TRY(make_dirs(scratch));
      TRY_ASSIGN(setup.references[key], reference_digest(toolchain, kernel, plan.arch, shape.kind, shape.steps, scratch));
      TRY(remove_tree(scratch));
    }
  }
  return {};
}

}  // namespace jitrace
