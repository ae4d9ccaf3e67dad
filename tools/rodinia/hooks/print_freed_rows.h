/* Force-included into the OpenMP myocyte, which frees its results without printing them: prints every freed row of EQUATIONS floats. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static size_t hook_sizes[4096];
static void *hook_rows[4096];
static int hook_count;
static void *hook_malloc(size_t bytes) {
  void *p = malloc(bytes);
  if (bytes == 91 * sizeof(float) && hook_count < 4096) {
    hook_rows[hook_count] = p;
    hook_sizes[hook_count++] = bytes;
  }
  return p;
}
static void hook_free(void *p) {
  for (int i = 0; i < hook_count; ++i)
    if (hook_rows[i] == p) {
      const float *row = (const float *)p;
      for (int k = 0; k < 91; ++k) printf("ROW %d %d %.9e\n", i, k, row[k]);
      hook_rows[i] = 0;
    }
  free(p);
}
#define malloc hook_malloc
#define free hook_free
