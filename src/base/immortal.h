// A static object that is never destroyed. What a program did not wait for is simulated when it exits, after
// destructors of objects that were made later than those of the runtime have run.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace simtlab {

template <class T>
class Immortal {
 public:
  template <class... Args>
  explicit Immortal(Args&&... args) {
    ::new (static_cast<void*>(place_)) T(std::forward<Args>(args)...);
  }
  Immortal(const Immortal&) = delete;
  Immortal& operator=(const Immortal&) = delete;

  T& operator*() { return *get(); }
  const T& operator*() const { return *get(); }
  T* operator->() { return get(); }
  const T* operator->() const { return get(); }

 private:
  T* get() { return std::launder(reinterpret_cast<T*>(place_)); }
  const T* get() const { return std::launder(reinterpret_cast<const T*>(place_)); }

  alignas(T) std::byte place_[sizeof(T)];
};

}  // namespace simtlab
