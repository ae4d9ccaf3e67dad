// y = a * x + y on arrays that have a name and a size of their own.
#include <stdio.h>
#include <stdlib.h>

#define MOST 1000000
static float x[MOST], y[MOST];

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 100000;
  float a = 2.5f;
  if (n > MOST) return 1;
  for (int i = 0; i < n; i++) {
    x[i] = (float)(i % 100);
    y[i] = 1.0f;
  }
#pragma simtlab kernel
  for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
  printf("%g\n", y[n - 1]);
  return 0;
}
