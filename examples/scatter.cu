// Scatter: every thread writes one word to a place of its own in a table of eight words a thread, the worst that writes can meet.
#include "example.h"

__global__ void scatter(int n, const int* index, const float* in, float* table) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) table[index[i]] = in[i];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 15, 1, 1 << 24), words = 8 * n;
  Sequence random;
  std::vector<int> index(words);
  for (int i = 0; i < words; ++i) {  // a shuffled deck: no two threads write the same place
    const int j = static_cast<int>(random.next() % (i + 1));
    index[i] = index[j];
    index[j] = i;
  }
  index.resize(n);
  std::vector<float> in(n), want(words);
  for (int i = 0; i < n; ++i) want[index[i]] = in[i] = random.unit();
  Buffer<int> dindex(index);
  Buffer<float> din(in), table(words);
  CHECK(cudaMemset(table.data, 0, words * sizeof(float)));
  scatter<<<(n + 255) / 256, 256>>>(n, dindex.data, din.data, table.data);
  CHECK(cudaGetLastError());
  return verdict("scatter", close(table.get(), want, 0.0));
}
