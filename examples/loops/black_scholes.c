// Prices of options: mathematics of the C library, a condition on data.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static float cumulative(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = 0.39894228f * expf(-0.5f * d * d) * (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}

void prices(float *restrict call, float *restrict put, const float *restrict stock, const float *restrict strike, const float *restrict years, float rate,
            float volatility, int n) {
#pragma simtlab kernel
  for (int i = 0; i < n; i++) {
    float root = sqrtf(years[i]);
    float d1 = (logf(stock[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
    float d2 = d1 - volatility * root;
    float discount = expf(-rate * years[i]);
    call[i] = stock[i] * cumulative(d1) - strike[i] * discount * cumulative(d2);
    put[i] = strike[i] * discount * (1.0f - cumulative(d2)) - stock[i] * (1.0f - cumulative(d1));
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000;
  float *data[5];
  for (int k = 0; k < 5; k++) data[k] = malloc(n * sizeof(float));
  for (int i = 0; i < n; i++) {
    data[2][i] = 5.0f + (float)(i % 25);
    data[3][i] = 1.0f + (float)(i % 99);
    data[4][i] = 0.25f + (float)(i % 9);
  }
  prices(data[0], data[1], data[2], data[3], data[4], 0.02f, 0.3f, n);
  printf("%g %g\n", data[0][10], data[1][10]);
  return 0;
}
