#include "base/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "base/elf_symbols.h"
#include "base/error.h"

namespace simtlab {
namespace {

constexpr std::uint64_t max_table_bytes = 16 << 20;

class Elf {
 public:
  explicit Elf(const std::filesystem::path& path) : path_(path), in_(path, std::ios::binary) {}

  ElfFacts read() {
    ElfFacts facts;
    if (!in_ || !at(0, &header_, sizeof header_)) return facts;
    facts.is_elf = std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0;
    if (!facts.is_elf || header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB)
      return facts;
    facts.is_x86_64 = header_.e_machine == EM_X86_64;
    facts.has_interpreter = has_interpreter();
    if (header_.e_shentsize != sizeof(Elf64_Shdr)) return facts;
    sections_.resize(header_.e_shnum);
    if (sections_.empty() || !at(header_.e_shoff, sections_.data(), sections_.size() * sizeof(Elf64_Shdr)))
      return facts;
    names(facts);
    dynamic(facts);
    if (facts.has_fatbin) imports(facts);
    if (facts.has_fatbin && facts.is_x86_64) facts.static_runtime = static_runtime();
    return facts;
  }

 private:
  bool at(std::uint64_t offset, void* target, std::uint64_t bytes) {
    if (bytes > max_table_bytes || offset > (std::uint64_t{1} << 62)) return false;
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(static_cast<char*>(target), static_cast<std::streamsize>(bytes));
    return in_.good() && in_.gcount() == static_cast<std::streamsize>(bytes);
  }

  std::string contents(const Elf64_Shdr& section) {
    std::string out;
    if (section.sh_size > max_table_bytes) return out;
    out.resize(section.sh_size);
    if (!at(section.sh_offset, out.data(), out.size())) out.clear();
    return out;
  }

  static std::string text_at(const std::string& table, std::uint64_t offset) {
    if (offset >= table.size()) return {};
    return {table.data() + offset, ::strnlen(table.data() + offset, table.size() - offset)};
  }

  bool has_interpreter() {
    for (std::uint64_t i = 0; header_.e_phentsize == sizeof(Elf64_Phdr) && i < header_.e_phnum; ++i) {
      Elf64_Phdr segment;
      if (!at(header_.e_phoff + i * sizeof segment, &segment, sizeof segment)) return false;
      if (segment.p_type == PT_INTERP) return true;
    }
    return false;
  }

  void names(ElfFacts& facts) {
    if (header_.e_shstrndx >= sections_.size()) return;
    const std::string table = contents(sections_[header_.e_shstrndx]);
    bool to_be_linked = false, linked = false;
    for (const Elf64_Shdr& s : sections_) {
      const std::string name = text_at(table, s.sh_name);
      if (name == ".nv_fatbin" || name == ".nvFatBinSegment" || name == "__nv_relfatbin")
        facts.has_fatbin = true;
      to_be_linked |= name == "__nv_relfatbin";
      linked |= name == ".nv_fatbin";
    }
    // What nvcc made of the first is in the second
    facts.relocatable = to_be_linked && !linked;
  }

  void dynamic(ElfFacts& facts) {
    const auto found = std::ranges::find(sections_, Elf64_Word{SHT_DYNAMIC}, &Elf64_Shdr::sh_type);
    if (found == sections_.end() || found->sh_link >= sections_.size()) return;
    const std::string entries = contents(*found);
    const std::string strings = contents(sections_[found->sh_link]);
    for (std::size_t i = 0; i + sizeof(Elf64_Dyn) <= entries.size(); i += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, entries.data() + i, sizeof entry);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) facts.needed.push_back(text_at(strings, entry.d_un.d_val));
    }
  }

  void imports(ElfFacts& facts) {
    const auto found = std::ranges::find(sections_, Elf64_Word{SHT_DYNSYM}, &Elf64_Shdr::sh_type);
    if (found == sections_.end() || found->sh_link >= sections_.size()) return;
    const std::string symbols = contents(*found);
    const std::string strings = contents(sections_[found->sh_link]);
    for (std::size_t i = 0; i + sizeof(Elf64_Sym) <= symbols.size(); i += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols.data() + i, sizeof symbol);
      if (symbol.st_shndx != SHN_UNDEF) continue;
      const std::string name = text_at(strings, symbol.st_name);
      facts.imports_cuda |=
          name == "__cudaRegisterFatBinary" || name == "cuModuleLoadData" || name == "cuLaunchKernel";
    }
  }

  // Executables with device code may be large, and little of one is looked at.
  int static_runtime() {
    const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    int out = 0;
    if (file >= 0 && ::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
      const auto bytes = static_cast<std::size_t>(info.st_size);
      if (void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0); at != MAP_FAILED) {
        out = static_cuda_runtime(ElfSymbols({static_cast<const std::byte*>(at), bytes}));
        ::munmap(at, bytes);
      }
    }
    if (file >= 0) ::close(file);
    return out;
  }

  std::filesystem::path path_;
  std::ifstream in_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace

ElfFacts inspect_elf(const std::filesystem::path& path) { return Elf(path).read(); }

bool ElfFacts::needs(std::string_view library) const {
  return std::ranges::any_of(needed, [&](const std::string& name) { return name.starts_with(library); });
}

void check_cuda_linkage(const ElfFacts& facts, const std::string& program) {
  for (const char* library :
       {"libcublas", "libcufft", "libcurand", "libcusparse", "libcusolver", "libcudnn", "libnccl"})
    if (facts.needs(library))
      throw Error(
          ExitCode::unsupported, "program-library",
          fmt::format("{} needs {}, which has a CUDA runtime inside that only works on NVIDIA's driver",
                      program, library),
          "programs run that use the runtime (libcudart) or the driver API (libcuda) themselves");
  if (facts.has_static_cuda() && facts.static_runtime == 0)
    throw Error(
        ExitCode::unsupported, "program-static-cudart",
        fmt::format("{} has the CUDA runtime linked in statically, and not the names of its functions",
                    program),
        "do not strip it, or rebuild it with `nvcc -cudart shared ...` (CMake: "
        "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared), or run its source: simtlab run app.cu");
  if (facts.relocatable)
    throw Error(
        ExitCode::unsupported, "program-relocatable",
        fmt::format("{} has relocatable device code (-rdc=true) that nvcc has not linked", program),
        "put the device code that calls each other into one source file and build without -rdc=true and -dc "
        "(CMake: CUDA_SEPARABLE_COMPILATION OFF)");
}

}  // namespace simtlab
