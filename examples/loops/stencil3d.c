// Seven points of a cube, with boundaries that stay as they are.
#include <stdio.h>
#include <stdlib.h>

#define AT(x, y, z) (((z) * (size_t)n + (y)) * n + (x))

void step(double *restrict out, const double *restrict in, int n, double c) {
#pragma simtlab kernel
  for (int z = 1; z < n - 1; z++)
    for (int y = 1; y < n - 1; y++)
      for (int x = 1; x < n - 1; x++)
        out[AT(x, y, z)] = in[AT(x, y, z)] + c * (in[AT(x - 1, y, z)] + in[AT(x + 1, y, z)] + in[AT(x, y - 1, z)] + in[AT(x, y + 1, z)] +
                                                  in[AT(x, y, z - 1)] + in[AT(x, y, z + 1)] - 6 * in[AT(x, y, z)]);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 40;
  double *in = malloc(sizeof(double) * n * n * n), *out = malloc(sizeof(double) * n * n * n);
  for (int i = 0; i < n * n * n; i++) in[i] = out[i] = i % 17;
  step(out, in, n, 0.1);
  printf("%g\n", out[AT(n / 2, n / 2, n / 2)]);
  free(in);
  free(out);
  return 0;
}
