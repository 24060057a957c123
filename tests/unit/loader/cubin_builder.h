#pragma once

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

namespace jitrace {

// A cubin's skeleton, laid out as ptxas does (strings, symbols, note, code, section headers), so that the reader can be
// tested where there is no nvcc.
inline std::string build_cubin(const std::string& arch, const std::vector<std::string>& kernels) {
  std::string section_names(1, '\0');
  const auto name = [&section_names](const char* text) {
    const auto at = static_cast<Elf64_Word>(section_names.size());
    section_names += text;
    section_names += '\0';
    return at;
  };
  std::string strings(1, '\0');
  std::string symbols(sizeof(Elf64_Sym), '\0');
  for (const std::string& kernel : kernels) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_other = 0x10;
    symbol.st_shndx = 5;
    strings += kernel + '\0';
    symbols.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
  }
  const std::string note = std::string("ptxas\0", 6) + "-arch " + arch + " -m 64 " + std::string(1, '\0');
  const std::string code(2000, '\x5a');

  std::vector<Elf64_Shdr> headers(1);
  std::string body;
  const auto add = [&](const char* title, Elf64_Word type, const std::string& bytes, Elf64_Word link) {
    Elf64_Shdr header{};
    header.sh_name = name(title);
    header.sh_type = type;
    header.sh_offset = sizeof(Elf64_Ehdr) + body.size();
    header.sh_size = bytes.size();
    header.sh_link = link;
    headers.push_back(header);
    body += bytes;
  };
  add(".strtab", SHT_STRTAB, strings, 0);
  add(".symtab", SHT_SYMTAB, symbols, 1);
  add(".note.nv.tkinfo", SHT_NOTE, note, 0);
  add(".text", SHT_PROGBITS, code, 0);
  add(".shstrtab", SHT_STRTAB, section_names + std::string(".shstrtab\0", 10), 0);

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_ABIVERSION] = 8;
  header.e_machine = 190;  // EM_CUDA
  header.e_flags = 90U << 8;
  header.e_shoff = sizeof header + body.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = 5;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += body;
  bytes.append(reinterpret_cast<const char*>(headers.data()), headers.size() * sizeof(Elf64_Shdr));
  return bytes;
}

}  // namespace jitrace
