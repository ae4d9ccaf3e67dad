// Contexts of the driver API. There is one device, whose memory all of them share; the runtime works in the
// primary one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace simtlab::hosts::cuda {

struct Context {
  std::uint64_t number = 0;  // from 1
  unsigned flags = 0;
  unsigned uses = 0;  // of the primary context: who retains it
};

// What a thread works in is a stack; see current(). All but that is under the runtime's lock.
class Contexts {
 public:
  void initialise() { initialised_ = true; }
  bool initialised() const { return initialised_ || runtime_used_; }
  // A call of the runtime initialises, and makes the primary context active and current where there is none.
  void use_runtime() { runtime_used_ = true; }

  Context* create(unsigned flags);
  bool destroy(Context* context);  // false: not one of create()'s
  bool known(const Context* context) const;
  Context& primary() { return primary_; }
  bool primary_active() const { return primary_.uses > 0 || runtime_used_; }
  bool any() const { return primary_active() || !created_.empty(); }
  // The primary context and all that is in it is gone (cuDevicePrimaryCtxReset, its last release).
  void reset_primary();

  // The calling thread's; null: none.
  Context* current();
  void set_current(Context* context);
  void push(Context* context);
  Context* pop();  // null: there is none

 private:
  bool initialised_ = false, runtime_used_ = false;
  std::uint64_t numbers_ = 1;
  Context primary_{1, 0, 0};
  std::vector<std::unique_ptr<Context>> created_;
};

}  // namespace simtlab::hosts::cuda
