// Gather: every thread reads one word from anywhere in a table of eight words a thread, so that a 32-byte sector gives four bytes.
#include "example.h"

__global__ void gather(int n, const int* index, const float* table, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i]];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 15, 1, 1 << 24), words = 8 * n;
  Sequence random;
  std::vector<int> index(n);
  std::vector<float> table(words), want(n);
  for (float& v : table) v = random.unit();
  for (int i = 0; i < n; ++i) want[i] = table[index[i] = static_cast<int>(random.next() % words)];
  Buffer<int> dindex(index);
  Buffer<float> dtable(table), out(n);
  gather<<<(n + 255) / 256, 256>>>(n, dindex.data, dtable.data, out.data);
  CHECK(cudaGetLastError());
  return verdict("gather", close(out.get(), want, 0.0));
}
