// Transposition of a matrix. One of the two mappings of its loops to threads reads in order, the other writes in order.
//   simtlab predict transpose.c --loop transpose.c:9 --params width=1024,height=1024 --gpu v100
//   simtlab predict transpose.c --loop transpose.c:9 --run '1024 1024' --simulate --gpu v100
#include <stdio.h>
#include <stdlib.h>

void transpose(float *restrict odata, const float *restrict idata, int width, int height) {
#pragma simtlab kernel
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      odata[x * height + y] = idata[y * width + x];
    }
  }
}

int main(int argc, char **argv) {
  int width = argc > 1 ? atoi(argv[1]) : 256, height = argc > 2 ? atoi(argv[2]) : 256;
  float *in = malloc(sizeof(float) * width * height), *out = malloc(sizeof(float) * width * height);
  for (int i = 0; i < width * height; i++) in[i] = (float)(i % 1021);
  transpose(out, in, width, height);
  printf("%g %g\n", out[1], out[(size_t)width * height - 1]);
  free(in);
  free(out);
  return 0;
}
