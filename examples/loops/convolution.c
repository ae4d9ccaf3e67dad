// A filter on an image with three bytes a pixel.
#include <stdio.h>
#include <stdlib.h>

void convolve(unsigned char *restrict out, const unsigned char *restrict in, const float *restrict filter, int width, int height, int size) {
  int row = 3 * width, half = size / 2;
#pragma simtlab kernel
  for (int py = half; py < height - half; py++) {
    for (int px = half; px < width - half; px++) {
      float r = 0, g = 0, b = 0;
      for (int fy = 0; fy < size; fy++) {
        const unsigned char *in_row = in + (py + fy - half) * row + (px - half) * 3;
        for (int fx = 0; fx < size; fx++) {
          float f = filter[fy * size + fx];
          r += f * in_row[fx * 3];
          g += f * in_row[fx * 3 + 1];
          b += f * in_row[fx * 3 + 2];
        }
      }
      unsigned char *out_row = out + py * row + px * 3;
      out_row[0] = (unsigned char)r;
      out_row[1] = (unsigned char)g;
      out_row[2] = (unsigned char)b;
    }
  }
}

int main(int argc, char **argv) {
  int width = argc > 1 ? atoi(argv[1]) : 128, height = argc > 2 ? atoi(argv[2]) : 96, size = 5;
  unsigned char *in = malloc(3 * width * height), *out = calloc(3 * width, height);
  float filter[25];
  for (int i = 0; i < 3 * width * height; i++) in[i] = (unsigned char)(i * 7 + i / 13);
  for (int i = 0; i < size * size; i++) filter[i] = 1.0f / 32;
  convolve(out, in, filter, width, height, size);
  printf("%d\n", out[3 * (width * 10 + 10)]);
  free(in);
  free(out);
  return 0;
}
