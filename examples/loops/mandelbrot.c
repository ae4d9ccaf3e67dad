// How often the inner loop runs depends on the point: only a run can tell.
#include <stdio.h>
#include <stdlib.h>

void mandelbrot(int *restrict image, int width, int height, int most) {
#pragma simtlab kernel
  for (int py = 0; py < height; py++)
    for (int px = 0; px < width; px++) {
      double cx = -2.0 + 3.0 * px / width, cy = -1.0 + 2.0 * py / height, x = 0, y = 0;
      int n = 0;
      while (n < most && x * x + y * y < 4) {
        double next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        n++;
      }
      image[py * width + px] = n;
    }
}

int main(int argc, char **argv) {
  int width = argc > 1 ? atoi(argv[1]) : 96, height = argc > 2 ? atoi(argv[2]) : 64, most = argc > 3 ? atoi(argv[3]) : 200;
  int *image = malloc(sizeof(int) * width * height);
  mandelbrot(image, width, height, most);
  printf("%d\n", image[width * height / 2 + width / 2]);
  free(image);
  return 0;
}
