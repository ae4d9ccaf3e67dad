// Scatter: every thread writes one word to a place of its own anywhere in a table, the worst that a memory's writes can meet.
#include "example.h"

__global__ void scatter(int n, const int* index, const float* in, float* table) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) table[index[i]] = in[i];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 15, 1, 1 << 26);
  Sequence random;
  std::vector<int> index(n);
  for (int i = 0; i < n; ++i) {  // a shuffled deck: no two threads write the same place
    const int j = static_cast<int>(random.next() % (i + 1));
    index[i] = index[j];
    index[j] = i;
  }
  std::vector<float> in(n), want(n);
  for (int i = 0; i < n; ++i) want[index[i]] = in[i] = random.unit();
  Buffer<int> dindex(index);
  Buffer<float> din(in), table(n);
  scatter<<<(n + 255) / 256, 256>>>(n, dindex.data, din.data, table.data);
  CHECK(cudaGetLastError());
  return verdict("scatter", close(table.get(), want, 0.0));
}
