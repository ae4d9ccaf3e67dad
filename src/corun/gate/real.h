// What a hook stands before: the function of that name in a library of the program.
//
// Which library depends on where the call comes from. A program may have several (the one of a Python
// extension, opened for itself alone, is in nobody's global scope), so the libraries of the caller are asked
// first, then those behind us in the global scope, then the one in which the program itself looked the name
// up by dlsym or cuGetProcAddress, then any that is loaded.
#pragma once

#include <atomic>
#include <mutex>

#include "corun/gate/events.h"

namespace simtlab::corun::gate {

// A function and the calls for events of the same library. Made once, never freed; its library stays loaded.
struct Target {
  void* function = nullptr;
  const EventApi* events = nullptr;
};

class Hook {
 public:
  Hook(const char* name, void* ours);
  const char* name() const { return name_; }
  void* ours() const { return ours_; }
  // Of the function that is meant by a call from there; null: no loaded library has it.
  const Target* target(const void* caller);
  // The program has looked the name up and got `real`: true if calls of our function will get there.
  bool takes(void* real, const void* caller);

  static Hook* find(const char* name);  // null: nothing of ours

 private:
  void* around(const void* caller) const;
  const char* const name_;
  void* const ours_;
  Hook* next_;
  std::atomic<const Target*> looked_up_{nullptr};
};

// Held across a fork, so that the child does not find it taken by a thread that it does not have.
std::mutex& targets_lock();

// The loader's own dlsym: ours stands before it (symbol_lookup.cpp).
void* look_up(void* library, const char* name);

// A call that leads nowhere: said once a name, counted, and told by cudaGetLastError. The code that it
// returns.
int nowhere(const char* name);

}  // namespace simtlab::corun::gate

// A function that stands before the program's: SIMTLAB_HOOK(int, cuLaunchKernel, (void* function, ...)) { ...
// }
#define SIMTLAB_HOOK(result, name, parameters)                                            \
  extern "C" __attribute__((visibility("default"))) result name parameters;               \
  static ::simtlab::corun::gate::Hook hook_##name{#name, reinterpret_cast<void*>(&name)}; \
  extern "C" result name parameters

// Declares `target`, and `real` as the function that the call of the hook `name` is meant for.
#define SIMTLAB_REAL_OR(name, otherwise)                                                                \
  const ::simtlab::corun::gate::Target* const target = hook_##name.target(__builtin_return_address(0)); \
  if (target == nullptr) return otherwise;                                                              \
  auto* const real = reinterpret_cast<decltype(&name)>(target->function)
#define SIMTLAB_REAL(name) SIMTLAB_REAL_OR(name, ::simtlab::corun::gate::nowhere(#name))
