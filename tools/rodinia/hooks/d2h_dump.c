/* Preloaded into an application that prints no result: appends what cudaMemcpy brings back from the device to $D2H_DUMP,
   each copy as an 8-byte little-endian length and its bytes. The application itself stays unmodified. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int cudaMemcpy(void *dst, const void *src, size_t bytes, int kind) {
  static int (*real)(void *, const void *, size_t, int);
  if (!real) real = (int (*)(void *, const void *, size_t, int))dlsym(RTLD_NEXT, "cudaMemcpy");
  if (!real) return 3;
  const int status = real(dst, src, bytes, kind);
  const char *path = getenv("D2H_DUMP");
  if (status == 0 && kind == 2 && path) {
    FILE *f = fopen(path, "ab");
    if (f) {
      const uint64_t length = bytes;
      fwrite(&length, sizeof length, 1, f);
      fwrite(dst, 1, bytes, f);
      fclose(f);
    }
  }
  return status;
}
