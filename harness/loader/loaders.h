#pragma once

// The four loaders, for loader.cc alone; everybody else asks make_loader().

#include "loader/loader.h"

namespace jitrace {

Result<std::unique_ptr<Loader>> make_fake_loader(const LoaderOptions& options);
Result<std::unique_ptr<Loader>> make_elf_loader(const LoaderOptions& options);
Result<std::unique_ptr<Loader>> make_dlopen_loader(const LoaderOptions& options);
Result<std::unique_ptr<Loader>> make_cuda_loader(const LoaderOptions& options);

LoaderProbe probe_cuda();

// DeepGEMM's `cuobjdump -symbols` pass by a reader of our own: an open by name before the driver's. `ok` if it passes.
LoadResult read_symbols(const std::string& path);
LoadResult wrong_count(std::size_t kernels, std::string bytes);

// "301 (elf, simulated)".
LoadResult simulated_result(LoadCode code, std::string_view loader, std::string bytes);

}  // namespace jitrace
