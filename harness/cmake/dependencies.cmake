# Every third-party package, all from Debian 12, and why it is here.
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)            # system::result: errors as values; Process v2: launching
find_package(fmt REQUIRED)                   # text
find_package(tomlplusplus REQUIRED)          # scenario files, with a line and a column for every node
find_package(CLI11 REQUIRED)                 # the command line
find_package(nlohmann_json REQUIRED)         # report.json
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)  # digests of artifacts, checksums of events

# fmt as headers: one less shared object for a helper to load, and no version to match on a runner.
add_library(jitrace_fmt INTERFACE)
target_link_libraries(jitrace_fmt INTERFACE fmt::fmt-header-only)

# Headers only; used to type-check what is looked up in libcuda and libnvrtc at run time.
find_path(JITRACE_CUDA_INCLUDE cuda.h PATHS $ENV{CUDA_HOME}/include /usr/local/cuda/include)
if(JITRACE_CUDA_INCLUDE)
  message(STATUS "CUDA headers: ${JITRACE_CUDA_INCLUDE}")
else()
  message(STATUS "CUDA headers not found: built without the cuda loader and the nvrtc toolchain")
endif()
