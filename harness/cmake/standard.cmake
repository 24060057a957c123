# Settings for our own targets only; third-party headers come in as SYSTEM.
add_library(jitrace_standard INTERFACE)
target_include_directories(jitrace_standard INTERFACE ${CMAKE_SOURCE_DIR}/harness ${CMAKE_SOURCE_DIR})
target_compile_options(jitrace_standard INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Wcast-qual -Wformat=2 -Wimplicit-fallthrough -Wswitch-enum -fno-omit-frame-pointer)
if(JITRACE_WERROR)
  target_compile_options(jitrace_standard INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in std::string that are not there (PR 105651).
  target_compile_options(jitrace_standard INTERFACE -Wno-restrict)
endif()
if(JITRACE_SANITIZE)
  target_compile_options(jitrace_standard INTERFACE -fsanitize=${JITRACE_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(jitrace_standard INTERFACE -fsanitize=${JITRACE_SANITIZE})
else()
  # GPU runners are containers of many kinds: libstdc++ and libgcc travel inside the binary.
  target_link_options(jitrace_standard INTERFACE -static-libstdc++ -static-libgcc)
endif()

# Where the helper programs lie, both in the build tree and when installed (bin/jitrace, libexec/jitrace/*).
set(JITRACE_LIBEXEC_DIR ${CMAKE_BINARY_DIR}/libexec/jitrace)

# jitrace_library(NAME SOURCES a.cc ... [DEPS lib ...]): one static library a folder.
function(jitrace_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(jitrace_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(jitrace_${name} PUBLIC jitrace_standard ${ARG_DEPS})
endfunction()

# jitrace_helper(NAME SOURCES ... [DEPS ...]): a program that the driver starts, found beside it in libexec.
function(jitrace_helper name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(jitrace_helper_${name} ${ARG_SOURCES})
  set_target_properties(jitrace_helper_${name} PROPERTIES OUTPUT_NAME ${name}
                        RUNTIME_OUTPUT_DIRECTORY ${JITRACE_LIBEXEC_DIR})
  target_link_libraries(jitrace_helper_${name} PRIVATE jitrace_standard ${ARG_DEPS})
  install(TARGETS jitrace_helper_${name} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/jitrace)
endfunction()
