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

Keeper keeper_for(const Setup& setup, const Plan& plan) {
  Keeper keeper = setup.keeper;
  keeper.limit = plan.watchdog;
  return keeper;
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
      if (const auto failed = setup.failures.find(key); failed != setup.failures.end()) return failed->second;
      TRY_ASSIGN(const Kernel kernel, read_kernel(setup.kernel_dir, name));
      const std::string scratch = join(setup.run_dir, "reference-" + hex(random_bits()));
      TRY(make_dirs(scratch));
      const auto digest =
          reference_digest(toolchain, kernel, plan.arch, shape.kind, shape.steps, scratch, keeper_for(setup, plan));
      TRY(remove_tree(scratch));
      if (!digest && digest.error().code == 0) {
        // Not ours: the compiler said no. Whoever reads it knows the kernel by the name that he gave it.
        return setup.failures[key] = make_error("compile", join(setup.kernel_dir, name + ".cu"), 0,
                                                "mend it or leave it out; " + toolchain.program + ": " + digest.error().note);
      }
      if (!digest) return setup.failures[key] = digest.error();
      setup.references[key] = *digest;
    }
  }
  return {};
}

}  // namespace jitrace
