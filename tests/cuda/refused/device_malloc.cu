// The same by malloc.
#include <cstdlib>
__global__ void k(void** p) { *p = malloc(16); }
int main() {
  void** p;
  cudaMalloc(&p, sizeof(void*));
  k<<<1, 1>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess;
}
