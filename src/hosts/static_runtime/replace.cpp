#include "hosts/static_runtime/replace.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/elf_symbols.h"

namespace simtlab::hosts::static_runtime {
namespace {

constexpr int exit_unsupported = 4;  // as simtlab's other refusals

[[noreturn]] void give_up(const char* object, const char* what, const char* why) {
  std::fprintf(stderr,
               "simtlab: error: %s: the CUDA runtime that is linked in cannot be replaced: %s%s%s "
               "[program-static-cudart]\n  hint: link the program with nvcc -cudart shared\n",
               object, what, *why == '\0' ? "" : ": ", why);
  _exit(exit_unsupported);
}

// A file's bytes, for as long as they are looked at.
class Mapped {
 public:
  explicit Mapped(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat info {};
    if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
      void* const at =
          ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED)
        bytes_ = {static_cast<const std::byte*>(at), static_cast<std::size_t>(info.st_size)};
    }
    ::close(file);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

// Our library of that version lies beside the one that this code is in.
void* our_runtime(int major, const char* object) {
  Dl_info self{};
  char path[4096];
  if (::dladdr(reinterpret_cast<const void*>(&replace_runtime), &self) == 0 || self.dli_fname == nullptr)
    give_up(object, "simtlab's library does not know where it is", "");
  const char* const slash = std::strrchr(self.dli_fname, '/');
  const int folder = slash == nullptr ? 0 : static_cast<int>(slash + 1 - self.dli_fname);
  std::snprintf(path, sizeof path, "%.*slibcudart.so.%s", folder, self.dli_fname,
                major == 11   ? "11.0"
                : major == 12 ? "12"
                              : "13");
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) give_up(object, "simtlab's own is missing", ::dlerror());
  return library;
}

// jmp through the eight bytes behind it, which may be anything.
constexpr std::size_t jump_bytes = 14;
void write_jump(std::byte* at, const void* target) {
  constexpr unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0};
  std::memcpy(at, jump, sizeof jump);
  std::memcpy(at + sizeof jump, &target, sizeof target);
}

// The pages of an object's code, writable while this lives.
class WritableCode {
 public:
  WritableCode(const dl_phdr_info& object, const char* name) : object_(object) {
    if (!protect(PROT_READ | PROT_WRITE | PROT_EXEC))
      give_up(name, "its code cannot be written", std::strerror(errno));
  }
  WritableCode(const WritableCode&) = delete;
  WritableCode& operator=(const WritableCode&) = delete;
  ~WritableCode() { protect(PROT_READ | PROT_EXEC); }
  bool holds(std::uint64_t address, std::size_t bytes) const {
    for (int i = 0; i < object_.dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = object_.dlpi_phdr[i];
      if (code(p) && address >= p.p_vaddr && bytes <= p.p_filesz && address - p.p_vaddr <= p.p_filesz - bytes)
        return true;
    }
    return false;
  }

 private:
  static bool code(const ElfW(Phdr) & p) { return p.p_type == PT_LOAD && (p.p_flags & PF_X) != 0; }
  bool protect(int how) const {
    const std::uint64_t page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    for (int i = 0; i < object_.dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = object_.dlpi_phdr[i];
      if (!code(p)) continue;
      const std::uint64_t begin = (object_.dlpi_addr + p.p_vaddr) / page * page;
      const std::uint64_t end = object_.dlpi_addr + p.p_vaddr + p.p_memsz;
      if (::mprotect(reinterpret_cast<void*>(begin), end - begin, how) != 0) return false;
    }
    return true;
  }
  const dl_phdr_info& object_;
};

// Only names that CUDA gives its functions are looked up; a program's own that begins so is not in our
// library.
bool of_the_runtime(std::string_view name) {
  return name.size() < 120 && (name.starts_with("cuda") || name.starts_with("__cuda"));
}

// A program with kernels that finds nobody to register them with has a runtime inside.
bool registers_elsewhere() {
  for (const char* name : {"__cudaRegisterFatBinary", "cuModuleLoadData", "cuLaunchKernel"})
    if (::dlsym(RTLD_DEFAULT, name) != nullptr) return true;
  return false;
}

void replace_in(const dl_phdr_info& object, const char* name, const ElfSymbols& symbols) {
  const int major = static_cuda_runtime(symbols);
  if (major == 0) {
    if (registers_elsewhere()) return;
    give_up(name, "its functions have no names any more, or it is older than CUDA 11", "");
  }
  void* const ours = our_runtime(major, name);
  const WritableCode code(object, name);
  symbols.each([&](const NamedFunction& f) {
    if (!of_the_runtime(f.name)) return true;
    char terminated[128] = {};
    std::memcpy(terminated, f.name.data(), f.name.size());
    const void* const target = ::dlsym(ours, terminated);
    if (target == nullptr) return true;
    if (f.bytes < jump_bytes && symbols.room(f) < jump_bytes)
      give_up(name, terminated, "it has no room for a jump");
    if (!code.holds(f.address, jump_bytes)) give_up(name, terminated, "it is not in the code");
    write_jump(reinterpret_cast<std::byte*>(object.dlpi_addr + f.address), target);
    return true;
  });
}

// The loader names the program before all others.
int take_first(dl_phdr_info* object, std::size_t, void* first) {
  *static_cast<dl_phdr_info*>(first) = *object;
  return 1;
}

}  // namespace

void replace_runtime() {
  dl_phdr_info program{};
  ::dl_iterate_phdr(take_first, &program);
  const Mapped file("/proc/self/exe");
  const ElfSymbols symbols(file.bytes());
  if (symbols.has_device_code()) replace_in(program, program_invocation_short_name, symbols);
}

}  // namespace simtlab::hosts::static_runtime
