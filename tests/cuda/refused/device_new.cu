// Memory from the device's heap.
__global__ void k(int** p) { p[threadIdx.x] = new int(3); }
__global__ void d(int** p) { delete p[threadIdx.x]; }
int main() {
  int** p;
  cudaMalloc(&p, 64 * sizeof(int*));
  k<<<1, 64>>>(p);
  d<<<1, 64>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess;
}
