#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loader/decisions.h"

namespace jitrace {

// A cubin as far as its headers tell. Any bytes may be given: a file that is cut or foreign is what this is for.
struct ElfImage {
  Input form = Input::empty;          // empty, one_byte, cut_*, text, ptx or whole
  std::string arch;                   // "sm_90a" from ptxas' note; "sm_90" where only e_flags are there
  std::vector<std::string> kernels;   // names of the entry functions
};
ElfImage read_elf_image(std::string_view bytes);

// Whether code for `arch` runs on `device` ("sm_90a"): the same number, and a suffix only where the device has it too.
bool arch_runs_on(std::string_view arch, std::string_view device);

}  // namespace jitrace
