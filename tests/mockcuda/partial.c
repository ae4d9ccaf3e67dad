/* A driver of which part is missing. */
#define EXPORT __attribute__((visibility("default")))
EXPORT int cuInit(unsigned flags) { return flags == 0 ? 0 : 1; }
EXPORT int cuDriverGetVersion(int* version) {
  *version = 12020;
  return 0;
}
