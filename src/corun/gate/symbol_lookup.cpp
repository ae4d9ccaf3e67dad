// dlsym and dlopen of the program. Who asks dlsym for a function that we stand before gets ours, however the
// library was found: so do Python's ctypes, Triton and JAX, and a CUDA runtime that is linked in statically,
// which gets all of the driver in this way.
//
// The loader decides by the return address which library asks (RTLD_NEXT, RTLD_DEFAULT, $ORIGIN of dlopen).
// So what is not ours to answer is passed on by a jump, with that address and all arguments as they were.
#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/elf.h"
#include "corun/gate/gate.h"
#include "corun/gate/real.h"

using namespace simtlab;

extern "C" {
using Dlsym = void*(void*, const char*);
using Dlopen = void*(const char*, int);
using Dlmopen = void*(Lmid_t, const char*, int);
[[gnu::used, gnu::visibility("hidden")]] Dlsym* simtlab_real_dlsym = nullptr;
[[gnu::used, gnu::visibility("hidden")]] Dlopen* simtlab_real_dlopen = nullptr;
[[gnu::used, gnu::visibility("hidden")]] Dlmopen* simtlab_real_dlmopen = nullptr;
}

namespace {

// dlvsym is the one that nobody stands before. Names of versions: glibc since 2.34, before that on x86-64 and
// on 64-bit ARM.
void* loaders(const char* name) {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.3.4", "GLIBC_2.17"})
    if (void* const found = ::dlvsym(RTLD_NEXT, name, version)) return found;
  return nullptr;
}

void find_loaders() {
  if (simtlab_real_dlmopen != nullptr) return;
  simtlab_real_dlsym = reinterpret_cast<Dlsym*>(loaders("dlsym"));
  simtlab_real_dlopen = reinterpret_cast<Dlopen*>(loaders("dlopen"));
  simtlab_real_dlmopen = reinterpret_cast<Dlmopen*>(loaders("dlmopen"));
}

// Libraries that find CUDA's functions before ours. Whether CUDA is in there is looked at when the process
// ends, and all of them are loaded.
std::mutex own_scopes_mutex;
std::vector<std::string>& own_scopes() {
  static auto* const out = new std::vector<std::string>;
  return *out;
}

}  // namespace

// Each: true if it has answered; else the call goes on to the loader's function.
extern "C" {

[[gnu::used, gnu::visibility("hidden")]] bool simtlab_choose_dlsym(void* library, const char* name, void*,
                                                                   const void* caller, void** answer) {
  find_loaders();
  if (name == nullptr || library == RTLD_NEXT ||
      (std::strncmp(name, "cu", 2) != 0 && std::strncmp(name, "__cu", 4) != 0 &&
       std::strncmp(name, "clE", 3) != 0))
    return false;
  corun::gate::Hook* const hook = corun::gate::Hook::find(name);
  if (hook == nullptr) return false;
  void* const found = simtlab_real_dlsym(library, name);
  if (found == nullptr) return false;
  if (found != hook->ours()) {
    *answer = hook->takes(found, caller) ? hook->ours() : found;
    return true;
  }
  // We are in every global scope, but a process without CUDA has no such function: the answer and dlerror are
  // those of what comes behind us.
  *answer = hook->target(caller) != nullptr ? found : simtlab_real_dlsym(RTLD_NEXT, name);
  return true;
}

[[gnu::used, gnu::visibility("hidden")]] bool simtlab_choose_dlopen(const char* file, std::intptr_t mode,
                                                                    void*, const void*, void**) {
  find_loaders();
  if (file != nullptr && (static_cast<int>(mode) & RTLD_DEEPBIND) != 0) {
    const std::lock_guard lock(own_scopes_mutex);
    own_scopes().emplace_back(file);
  }
  return false;
}

// In a namespace of its own there is no gate.
[[gnu::used, gnu::visibility("hidden")]] bool simtlab_choose_dlmopen(std::intptr_t space, const char* file,
                                                                     void*, const void*, void**) {
  find_loaders();
  if (space == LM_ID_BASE || file == nullptr) return false;
  const std::string_view path = file;
  const ElfFacts facts = inspect_elf(path);
  if (path.substr(path.rfind('/') + 1).starts_with("libcuda") || facts.has_fatbin ||
      facts.needs("libcudart.so") || facts.needs("libcuda.so"))
    corun::gate::tally().seen(corun::live::Tally::own_scope);
  return false;
}
}

#ifdef __x86_64__
// Arguments are kept on the stack meanwhile; choose(first, second, third, return address, &answer).
// clang-format off
#define SIMTLAB_PUSH(what) "push " what "\n.cfi_adjust_cfa_offset 8\n"
#define SIMTLAB_POP(what) "pop " what "\n.cfi_adjust_cfa_offset -8\n"
#define SIMTLAB_STAND_BEFORE(symbol)                                                   \
  asm(".text\n.globl " #symbol "\n.type " #symbol ", @function\n" #symbol ":\n"        \
      ".cfi_startproc\nendbr64\n"                                                      \
      SIMTLAB_PUSH("%rdi") SIMTLAB_PUSH("%rsi") SIMTLAB_PUSH("%rdx")                   \
      "sub $16, %rsp\n.cfi_adjust_cfa_offset 16\n"                                     \
      "mov 40(%rsp), %rcx\nlea 8(%rsp), %r8\n"                                         \
      "call simtlab_choose_" #symbol "\n"                                              \
      "mov %eax, %r10d\nmov 8(%rsp), %rax\n"                                           \
      "add $16, %rsp\n.cfi_adjust_cfa_offset -16\n"                                    \
      SIMTLAB_POP("%rdx") SIMTLAB_POP("%rsi") SIMTLAB_POP("%rdi")                      \
      "test %r10b, %r10b\njz 1f\nret\n"                                                \
      "1:\njmp *simtlab_real_" #symbol "(%rip)\n"                                      \
      ".cfi_endproc\n.size " #symbol ", . - " #symbol "\n")
// clang-format on
SIMTLAB_STAND_BEFORE(dlsym);
SIMTLAB_STAND_BEFORE(dlopen);
SIMTLAB_STAND_BEFORE(dlmopen);
#endif  // elsewhere dlsym is the loader's alone: what it finds is not gated

namespace simtlab::corun::gate {

void* look_up(void* library, const char* name) {
  find_loaders();
  return simtlab_real_dlsym(library, name);
}

void look_into_own_scopes() {
  std::vector<std::string> files;
  {
    const std::lock_guard lock(own_scopes_mutex);
    files = own_scopes();
  }
  for (const std::string& file : files) {
    void* const library = simtlab_real_dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    if (look_up(library, "cudaLaunchKernel") != nullptr || look_up(library, "cuLaunchKernel") != nullptr)
      tally().seen(corun::live::Tally::own_scope);
    ::dlclose(library);
  }
}

}  // namespace simtlab::corun::gate
