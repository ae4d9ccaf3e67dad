// A copy: as much memory traffic and as little arithmetic as can be.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 100000;
  float *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  for (int i = 0; i < n; i++) a[i] = (float)i;
#pragma simtlab kernel
  for (int i = 0; i < n; i++) b[i] = a[i];
  printf("%g\n", b[n - 1]);
  free(a);
  free(b);
  return 0;
}
