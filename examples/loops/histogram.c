// Refused: which element an iteration writes depends on data, so two iterations may meet.
#include <stdio.h>
#include <stdlib.h>

void count(int *restrict bins, const unsigned char *restrict data, int n) {
#pragma simtlab kernel
  for (int i = 0; i < n; i++) bins[data[i]]++;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 100000, bins[256] = {0};
  unsigned char *data = malloc(n);
  for (int i = 0; i < n; i++) data[i] = (unsigned char)(i * 31);
  count(bins, data, n);
  printf("%d\n", bins[7]);
  free(data);
  return 0;
}
