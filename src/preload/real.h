// The function that a hook stands before: the next one of that name in the order of loading.
#pragma once

#include <dlfcn.h>

namespace simtlab::preload {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace simtlab::preload

#define SIMTLAB_HOOK extern "C" __attribute__((visibility("default")))

// Declares `real` as the next function of this name; a program that calls what nobody has gets the error that a missing driver gives.
#define SIMTLAB_REAL(name)                                                  \
  static auto* const real = ::simtlab::preload::next<decltype(name)>(#name); \
  if (real == nullptr) return 35
