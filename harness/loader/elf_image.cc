#include "loader/elf_image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace jitrace {
namespace {

constexpr std::size_t tail_bytes = 200;
constexpr unsigned char entry_function = 0x10;  // STO_CUDA_ENTRY in st_other
constexpr std::uint64_t absurd = 1ULL << 40;    // no offset of a real cubin; keeps the sums below from wrapping

template <class Struct>
std::optional<Struct> read_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Struct)) return std::nullopt;
  Struct value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view range(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return bytes.substr(offset, size);
}

std::string_view name_at(std::string_view strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const std::string_view rest = strings.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

// Where the file would end if it were whole.
std::uint64_t expected_size(std::string_view bytes, const Elf64_Ehdr& header) {
  const auto end = [](std::uint64_t offset, std::uint64_t size) { return std::min(offset, absurd) + std::min(size, absurd); };
  std::uint64_t size = end(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize);
  size = std::max(size, end(header.e_phoff, std::uint64_t{header.e_phnum} * header.e_phentsize));
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(bytes, header.e_shoff + i * header.e_shentsize);
    if (!section) break;
    if (section->sh_type != SHT_NOBITS) size = std::max(size, end(section->sh_offset, section->sh_size));
  }
  return size;
}

std::vector<Elf64_Shdr> sections_of(std::string_view bytes, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections;
  if (header.e_shentsize < sizeof(Elf64_Shdr)) return sections;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(bytes, header.e_shoff + i * header.e_shentsize);
    if (!section) break;
    sections.push_back(*section);
  }
  return sections;
}

// What `cuobjdump -symbols` would list as entry functions.
std::vector<std::string> kernels_of(std::string_view bytes, const std::vector<Elf64_Shdr>& sections) {
  std::vector<std::string> kernels;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& link = sections[section.sh_link];
    const std::string_view names = range(bytes, link.sh_offset, link.sh_size);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read_at<Elf64_Sym>(bytes, section.sh_offset + at);
      if (!symbol) break;
      if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || (symbol->st_other & entry_function) == 0) continue;
      kernels.emplace_back(name_at(names, symbol->st_name));
    }
  }
  return kernels;
}

std::string arch_of(std::string_view bytes, const Elf64_Ehdr& header, const std::vector<Elf64_Shdr>& sections) {
  const std::string_view names = header.e_shstrndx < sections.size()
                                     ? range(bytes, sections[header.e_shstrndx].sh_offset, sections[header.e_shstrndx].sh_size)
                                     : std::string_view{};
  for (const Elf64_Shdr& section : sections) {
    if (name_at(names, section.sh_name) != ".note.nv.tkinfo") continue;
    // ptxas notes its own command line: "-arch sm_90a -m 64".
    const std::string_view note = range(bytes, section.sh_offset, section.sh_size);
    const std::size_t at = note.find("-arch");
    if (at == std::string_view::npos || at + 6 >= note.size()) continue;
    const std::string_view arch = note.substr(at + 6);
    return std::string(arch.substr(0, arch.find_first_of(std::string_view(" \0", 2))));
  }
  // The number alone; ABI 8 (CUDA 13) moved it up by a byte.
  const std::uint32_t number = header.e_ident[EI_ABIVERSION] >= 8 ? (header.e_flags >> 8) & 0xff : header.e_flags & 0xff;
  return "sm_" + std::to_string(number);
}

Input form_of_text(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 4096);
  return head.find(".version") != std::string_view::npos && head.find(".target") != std::string_view::npos ? Input::ptx
                                                                                                           : Input::text;
}

}  // namespace

ElfImage read_elf_image(std::string_view bytes) {
  ElfImage image;
  if (bytes.size() <= 1) {
    image.form = bytes.empty() ? Input::empty : Input::one_byte;
    return image;
  }
  if (bytes.substr(0, SELFMAG) != std::string_view(ELFMAG, SELFMAG).substr(0, bytes.size())) {
    image.form = form_of_text(bytes);
    return image;
  }
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header) {
    image.form = Input::cut_header;
    return image;
  }
  const std::uint64_t expected = expected_size(bytes, *header);
  image.form = bytes.size() >= expected ? Input::whole
               : expected - bytes.size() <= tail_bytes ? Input::cut_tail
                                                       : Input::cut_sections;
  const std::vector<Elf64_Shdr> sections = sections_of(bytes, *header);
  image.kernels = kernels_of(bytes, sections);
  image.arch = arch_of(bytes, *header, sections);
  return image;
}

bool arch_runs_on(std::string_view arch, std::string_view device) {
  if (arch == device) return true;
  // "sm_90" code runs on a device that is called sm_90a; the reverse is not so.
  return !arch.empty() && device.size() == arch.size() + 1 && device.substr(0, arch.size()) == arch &&
         (device.back() == 'a' || device.back() == 'f');
}

}  // namespace jitrace
