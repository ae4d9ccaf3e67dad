// A device function that calls itself.
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void k(int* o) { *o = fibonacci(*o); }
int main() {
  int* p;
  cudaMalloc(&p, sizeof(int));
  k<<<1, 1>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess;
}
