#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace jitrace {

// libnvrtc, opened at run time; nothing links against it. One object may compile any number of programs, one at a time.
class Nvrtc {
 public:
  static Result<Nvrtc> open(const std::string& path);
  // By the loader's own search, then in lib64 and lib of each toolkit directory.
  static Result<Nvrtc> find(const std::vector<std::string>& toolkits);
  Nvrtc(Nvrtc&&) noexcept;
  Nvrtc& operator=(Nvrtc&&) noexcept;
  ~Nvrtc();

  const std::string& path() const { return path_; }
  const std::string& version() const { return version_; }

  struct Job {
    std::string source;              // the text: nvrtc reads no file
    std::string name;                // for messages: "axpy.cu"
    std::string arch;                // "sm_90a"
    std::uint64_t attempt = 0;       // the stamp
    // Called by the compiler again and again while it works, from threads of its choice but one at a time: while one call
    // waits, the others do. The first is the `compile` point (no output exists). Not called at all by libraries older than
    // 12.9. Empty: nobody listens.
    std::function<void()> progress;
  };
  struct Compiled {
    bool ok = false;
    std::string cubin;
    std::string log;                 // the compiler's messages; why, where it is not ok
  };
  Result<Compiled> compile(const Job& job) const;

 private:
  struct Library;
  Nvrtc(std::unique_ptr<Library> library, std::string path, std::string version);
  std::unique_ptr<Library> library_;
  std::string path_;
  std::string version_;
};

}  // namespace jitrace
