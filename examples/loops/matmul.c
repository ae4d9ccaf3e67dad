// Product of two matrices of a fixed width, as C99 passes them.
#include <stdio.h>
#include <stdlib.h>

enum { N = 128 };

void multiply(float (*restrict c)[N], float (*restrict a)[N], float (*restrict b)[N], int n) {
#pragma simtlab kernel
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
}

static float a[N][N], b[N][N], c[N][N];

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = (float)(i + j) / N;
      b[i][j] = (float)(i - j) / N;
    }
  multiply(c, a, b, N);
  printf("%g\n", c[5][7]);
  return 0;
}
