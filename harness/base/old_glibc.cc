// Stand-ins for two functions that the compiler's static libraries ask for and that glibc has only since 2.35 and 2.36:
// a program built here would not start in a container that is older. Pulled in by the linker options in CMakeLists.txt.

#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

// libstdc++'s random_device, which every program carries.
extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  while (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
  }
  return value;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE

namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* found;
};

int look(dl_phdr_info* info, std::size_t, void* data) {
  const auto& search = *static_cast<Search*>(data);
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  std::uintptr_t frames = 0;
  bool inside = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const std::uintptr_t from = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME) frames = from;
    if (header.p_type != PT_LOAD) continue;
    const std::uintptr_t to = from + header.p_memsz;
    inside = inside || (search.address >= from && search.address < to);
    begin = from < begin ? from : begin;
    end = to > end ? to : end;
  }
  if (!inside || frames == 0) return 0;
  *search.found = {};
  search.found->dlfo_map_start = reinterpret_cast<void*>(begin);
  search.found->dlfo_map_end = reinterpret_cast<void*>(end);
  search.found->dlfo_eh_frame = reinterpret_cast<void*>(frames);
  return 1;
}

}  // namespace

// libgcc's unwinder, for every frame that an exception passes. It reads the bounds and the table of frames only.
extern "C" int _dl_find_object(void* address, dl_find_object* found) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(address), found};
  return ::dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}

#endif
