// The myocyte model of the CUDA version on the host: its own kernels as ordinary functions, its own solver
// around them. (The OpenMP version starts from other step sizes and takes another path.) Compiled in the
// suite's cuda/myocyte.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define __device__
#include "define.c"
#include "file.c"
#include "kernel_cam.cu"
#include "kernel_ecc.cu"
#include "kernel_fin.cu"

// What kernel.cu and master.cu do with two blocks.
void master(fp timeinst, fp* initvalu, fp* parameter, fp* finavalu, fp* com, fp*, fp*, fp*, fp*) {
  const int at = (int)timeinst;  // kernel.cu takes an int
  kernel_ecc(at, initvalu, finavalu, 0, parameter);
  for (int i = 0; i < 3; ++i)
    kernel_cam(at, initvalu, finavalu, 46 + 15 * i, parameter, 5 * i, com, i, (fp)(initvalu[35 + i] * 1e3));
  kernel_fin(initvalu, 0, 46, 61, 76, parameter, finavalu, com[0], com[1], com[2]);
  for (int i = 0; i < EQUATIONS; ++i)
    if (!isfinite(finavalu[i])) finavalu[i] = 0.0001;
}

#include "embedded_fehlberg_7_8.cu"
#include "solver.cu"

int main(int argc, char** argv) {
  const int last = argc > 1 ? atoi(argv[1]) : 1;
  fp** y = (fp**)malloc((1 + last) * sizeof(fp*));
  for (int j = 0; j <= last; ++j) y[j] = (fp*)calloc(EQUATIONS, sizeof(fp));
  fp* x = (fp*)calloc(1 + last, sizeof(fp));
  fp params[PARAMETERS] = {}, com[3] = {};
  read((char*)"../../data/myocyte/y.txt", y[0], EQUATIONS, 1, 0);
  read((char*)"../../data/myocyte/params.txt", params, PARAMETERS, 1, 0);
  solver(y, x, last, params, com, 0, 0, 0, 0);
  for (int j = 0; j <= last; ++j)
    for (int k = 0; k < EQUATIONS; ++k) printf("ROW %d %d %.9e\n", j, k, y[j][k]);
}
