// The host's floating-point state in calls from programs.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace simtlab::hosts {

// A program built with -ffast-math flushes denormals in this process; the simulated GPU's arithmetic must not
// notice.
class DefaultFloatControl {
 public:
#if defined(__x86_64__)
  DefaultFloatControl() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~DefaultFloatControl() { _mm_setcsr(saved_); }
  DefaultFloatControl(const DefaultFloatControl&) = delete;
  DefaultFloatControl& operator=(const DefaultFloatControl&) = delete;

 private:
  unsigned saved_;
#endif
};

}  // namespace simtlab::hosts
