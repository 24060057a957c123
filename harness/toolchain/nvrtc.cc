#include "toolchain/nvrtc.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/file.h"
#include "base/text.h"

struct _nvrtcProgram;

namespace jitrace {
namespace {

// nvrtc.h's own types, so that the build needs no CUDA headers; a unit test compares them where the header is there.
using Program = _nvrtcProgram*;
using Code = int;  // enum nvrtcResult; 0 is success

using Dlhandle = std::unique_ptr<void, int (*)(void*)>;

template <class Function>
bool look_up(void* handle, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

struct Nvrtc::Library {
  Dlhandle handle{nullptr, &::dlclose};
  Code (*version)(int*, int*) = nullptr;
  const char* (*error_string)(Code) = nullptr;
  Code (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  Code (*destroy)(Program*) = nullptr;
  Code (*compile)(Program, int, const char* const*) = nullptr;
  Code (*cubin_size)(Program, std::size_t*) = nullptr;
  Code (*cubin)(Program, char*) = nullptr;
  Code (*log_size)(Program, std::size_t*) = nullptr;
  Code (*log)(Program, char*) = nullptr;
  Code (*set_flow_callback)(Program, int (*)(void*, void*), void*) = nullptr;  // since 12.9
};

Nvrtc::Nvrtc(std::unique_ptr<Library> library, std::string path, std::string version)
    : library_(std::move(library)), path_(std::move(path)), version_(std::move(version)) {}
Nvrtc::Nvrtc(Nvrtc&&) noexcept = default;
Nvrtc& Nvrtc::operator=(Nvrtc&&) noexcept = default;
Nvrtc::~Nvrtc() = default;

Result<Nvrtc> Nvrtc::open(const std::string& path) {
  auto library = std::make_unique<Library>();
  // It may keep threads, so its code must never be unmapped.
  library->handle.reset(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
  void* handle = library->handle.get();
  if (handle == nullptr) return make_error("open library", path, 0, ::dlerror());
  const bool whole = look_up(handle, "nvrtcVersion", library->version) &&
                     look_up(handle, "nvrtcGetErrorString", library->error_string) &&
                     look_up(handle, "nvrtcCreateProgram", library->create) &&
                     look_up(handle, "nvrtcDestroyProgram", library->destroy) &&
                     look_up(handle, "nvrtcCompileProgram", library->compile) &&
                     look_up(handle, "nvrtcGetCUBINSize", library->cubin_size) &&
                     look_up(handle, "nvrtcGetCUBIN", library->cubin) &&
                     look_up(handle, "nvrtcGetProgramLogSize", library->log_size) &&
                     look_up(handle, "nvrtcGetProgramLog", library->log);
  if (!whole) return make_error("use", path, 0, "it lacks an entry point of nvrtc");
  look_up(handle, "nvrtcSetFlowCallback", library->set_flow_callback);
  int major = 0;
  int minor = 0;
  if (library->version(&major, &minor) != 0) return make_error("use", path, 0, "it does not tell its version");
  std::string version = std::to_string(major) + "." + std::to_string(minor);
  return Nvrtc(std::move(library), path, std::move(version));
}

Result<Nvrtc> Nvrtc::find(const std::vector<std::string>& toolkits) {
  constexpr std::array<const char*, 4> names = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
  for (const char* name : names) {
    if (Result<Nvrtc> library = open(name)) return library;
  }
  for (const std::string& toolkit : toolkits) {
    for (const std::string_view directory : {"lib64", "lib"}) {
      for (const char* name : names) {
        const std::string path = join(join(toolkit, directory), name);
        if (!exists(path)) continue;
        if (Result<Nvrtc> library = open(path)) return library;
      }
    }
  }
  return plain_error("find libnvrtc.so", "not in the loader's search nor in a CUDA toolkit; install cuda-nvrtc");
}

Result<Nvrtc::Compiled> Nvrtc::compile(const Job& job) const {
  const auto check = [this](Code code, std::string_view what) -> Result<void> {
    if (code == 0) return {};
    return make_error(what, path_, 0, library_->error_string(code));
  };
  Program raw = nullptr;
  TRY(check(library_->create(&raw, job.source.c_str(), job.name.c_str(), 0, nullptr, nullptr), "create program with"));
  const auto destroy = [this](Program program) { library_->destroy(&program); };
  const std::unique_ptr<_nvrtcProgram, decltype(destroy)> program(raw, destroy);

  struct Listener {
    const std::function<void()>& progress;
    std::mutex one_at_a_time;
  } listener{job.progress, {}};
  if (job.progress && library_->set_flow_callback != nullptr) {
    const auto callback = [](void* payload, void*) {
      auto* called = static_cast<Listener*>(payload);
      const std::lock_guard lock(called->one_at_a_time);
      called->progress();
      return 0;
    };
    TRY(check(library_->set_flow_callback(raw, callback, &listener), "set callback of"));
  }
  const std::string arch = "--gpu-architecture=" + job.arch;
  const std::string stamp = "-DJITRACE_STAMP=" + hex(job.attempt);
  const std::array<const char*, 3> options = {arch.c_str(), stamp.c_str(), "--std=c++17"};
  const Code code = library_->compile(raw, static_cast<int>(options.size()), options.data());

  Compiled compiled;
  std::size_t size = 0;
  if (library_->log_size(raw, &size) == 0 && size > 1) {
    compiled.log.resize(size);
    library_->log(raw, compiled.log.data());
    compiled.log.resize(size - 1);
  }
  if (code != 0) {
    if (compiled.log.empty()) compiled.log = library_->error_string(code);
    return compiled;
  }
  TRY(check(library_->cubin_size(raw, &size), "size cubin with"));
  compiled.cubin.resize(size);
  TRY(check(library_->cubin(raw, compiled.cubin.data()), "get cubin from"));
  compiled.ok = true;
  return compiled;
}

}  // namespace jitrace
