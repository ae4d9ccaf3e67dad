// printf on the device: integers, floats, text, widths. The lines appear at the next synchronisation; their
// number is checked.
#include "example.h"

__global__ void speak(int every, int* spoken) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % every != 0) return;
  printf("thread %4d of block %u: %7.3f, %s, %llx\n", i, blockIdx.x, i / 8.0, i % 2 ? "odd" : "even",
         0x100000000ull + i);
  atomicAdd(spoken, 1);
}

int main(int argc, char** argv) {
  const int every = size_argument(argc, argv, 37, 1, 1000);
  Buffer<int> spoken(std::vector<int>{0});
  speak<<<4, 64>>>(every, spoken.data);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return verdict("device_printf", spoken.get()[0] == (256 + every - 1) / every);
}
