// The beginning and the end of a process that has the gate, its forks, and the programs that it starts.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/elf.h"
#include "corun/gate/gate.h"
#include "corun/gate/real.h"

namespace simtlab::corun::gate {

corun::live::Tally& tally() {
  static auto* const out = new corun::live::Tally(
      std::getenv(corun::live::Tally::variable));  // programs launch in their exit handlers, too
  return *out;
}

namespace {

bool counted() { return std::getenv(corun::live::Tally::variable) != nullptr; }

void note_static_runtime(const std::string& file) {
  if (inspect_elf(file).has_static_cuda()) tally().seen(corun::live::Tally::static_runtime);
}

// On a simulated GPU the program's own runtime is replaced, or the program ended (hosts/static_runtime).
bool replaces_static_runtime() {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr && std::strstr(preloaded, "libsimtlab_static_runtime.so") != nullptr;
}

// Extensions of Python, plug-ins: those that are still there.
void look_at_libraries() {
  std::vector<std::string> files;
  const auto note = [](dl_phdr_info* info, std::size_t, void* into) {
    if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/')
      static_cast<std::vector<std::string>*>(into)->emplace_back(info->dlpi_name);
    return 0;
  };
  ::dl_iterate_phdr(note, &files);
  for (const std::string& file : files) note_static_runtime(file);
}

[[gnu::constructor]] void at_load() {
  tally();
  if (counted() && !replaces_static_runtime()) note_static_runtime("/proc/self/exe");
  const auto before = [] {
    Gate::before_fork();
    targets_lock().lock();
  };
  const auto in_parent = [] {
    targets_lock().unlock();
    Gate::after_fork(false);
  };
  const auto in_child = [] {
    targets_lock().unlock();
    tally().after_fork_in_child();
    Gate::after_fork(true);
  };
  ::pthread_atfork(before, in_parent, in_child);
  ::at_quick_exit([] { tally().at_end(); });
}

[[gnu::destructor]] void at_unload() {
  if (Gate::made()) Gate::get().at_end();
  look_into_own_scopes();
  if (counted()) look_at_libraries();
  tally().at_end();
}

// Without it a program is started of which nothing will be known. No memory is taken: this is between vfork
// and exec.
bool has_gate(char* const* environment) {
  for (; environment != nullptr && *environment != nullptr; ++environment)
    if (std::strncmp(*environment, "LD_PRELOAD=", 11) == 0 &&
        std::strstr(*environment, "libsimtlab_corun.so") != nullptr)
      return true;
  return false;
}

void before_exec(char* const* environment) {
  if (!has_gate(environment)) tally().starts_bare();
}

// Looked up here and not when they are called: that may be in a child of vfork.
template <typename Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(look_up(RTLD_NEXT, name));
}
auto* const real_execve = behind<int(const char*, char* const*, char* const*)>("execve");
auto* const real_execv = behind<int(const char*, char* const*)>("execv");
auto* const real_execvp = behind<int(const char*, char* const*)>("execvp");
auto* const real_execvpe = behind<int(const char*, char* const*, char* const*)>("execvpe");
using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  char* const*, char* const*);
auto* const real_spawn = behind<Spawn>("posix_spawn");
auto* const real_spawnp = behind<Spawn>("posix_spawnp");
auto* const real_system = behind<int(const char*)>("system");
auto* const real_popen = behind<std::FILE*(const char*, const char*)>("popen");

}  // namespace

}  // namespace simtlab::corun::gate

using namespace simtlab;

#define SIMTLAB_EXPORT extern "C" __attribute__((visibility("default")))

// dash, os._exit of Python, children of multiprocessing: no destructor runs. Nothing else is done than what a
// signal handler may do.
SIMTLAB_EXPORT void _exit(int status) {
  corun::gate::tally().at_end();
  for (;;) ::syscall(SYS_exit_group, status);
}
SIMTLAB_EXPORT void _Exit(int status) noexcept { ::_exit(status); }

SIMTLAB_EXPORT int execve(const char* file, char* const* words, char* const* environment) noexcept {
  corun::gate::before_exec(environment);
  return corun::gate::real_execve(file, words, environment);
}
SIMTLAB_EXPORT int execv(const char* file, char* const* words) noexcept {
  corun::gate::before_exec(environ);
  return corun::gate::real_execv(file, words);
}
SIMTLAB_EXPORT int execvp(const char* file, char* const* words) noexcept {
  corun::gate::before_exec(environ);
  return corun::gate::real_execvp(file, words);
}
SIMTLAB_EXPORT int execvpe(const char* file, char* const* words, char* const* environment) noexcept {
  corun::gate::before_exec(environment);
  return corun::gate::real_execvpe(file, words, environment);
}
SIMTLAB_EXPORT int posix_spawn(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const* words,
                               char* const* environment) {
  corun::gate::before_exec(environment);
  return corun::gate::real_spawn(child, file, actions, attributes, words, environment);
}
SIMTLAB_EXPORT int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const* words,
                                char* const* environment) {
  corun::gate::before_exec(environment);
  return corun::gate::real_spawnp(child, file, actions, attributes, words, environment);
}
SIMTLAB_EXPORT int system(const char* command) {
  if (command != nullptr) corun::gate::before_exec(environ);
  return corun::gate::real_system(command);
}
SIMTLAB_EXPORT std::FILE* popen(const char* command, const char* mode) {
  corun::gate::before_exec(environ);
  return corun::gate::real_popen(command, mode);
}

// Words one by one, and a null pointer behind them: made the array that the others take. No memory is taken.
#define SIMTLAB_WORDS(words, arguments, first)                                                  \
  va_list arguments, counted;                                                                   \
  va_start(arguments, first);                                                                   \
  va_copy(counted, arguments);                                                                  \
  std::size_t count = 1;                                                                        \
  for (const char* word = first; word != nullptr; ++count) word = va_arg(counted, const char*); \
  va_end(counted);                                                                              \
  char** const words = static_cast<char**>(__builtin_alloca(count * sizeof(char*)));            \
  words[0] = const_cast<char*>(first);                                                          \
  for (std::size_t i = 1; i < count; ++i) words[i] = const_cast<char*>(va_arg(arguments, const char*))

SIMTLAB_EXPORT int execl(const char* file, const char* first, ...) noexcept {
  SIMTLAB_WORDS(words, arguments, first);
  va_end(arguments);
  return ::execv(file, words);
}
SIMTLAB_EXPORT int execlp(const char* file, const char* first, ...) noexcept {
  SIMTLAB_WORDS(words, arguments, first);
  va_end(arguments);
  return ::execvp(file, words);
}
SIMTLAB_EXPORT int execle(const char* file, const char* first, ...) noexcept {
  SIMTLAB_WORDS(words, arguments, first);
  char* const* const environment = va_arg(arguments, char* const*);
  va_end(arguments);
  return ::execve(file, words, environment);
}
