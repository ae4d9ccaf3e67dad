/* Linked into (or preloaded by) both versions of an application that seeds its input from the clock, so that they see the same input. */
#include <time.h>
time_t time(time_t *out) {
  if (out) *out = 1234567;
  return 1234567;
}
