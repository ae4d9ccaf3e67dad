// Tiles sorted in shared memory, then pairs of tiles merged; and keys sorted by their digits.
#include "../example.h"

constexpr int tile = 128;

__global__ void sort_tiles(int n, int* data) {
  __shared__ int keys[tile];
  const int t = threadIdx.x, i = blockIdx.x * tile + t;
  keys[t] = i < n ? data[i] : 1 << 30;
  __syncthreads();
  for (int size = 2; size <= tile; size *= 2)
    for (int d = size / 2; d > 0; d /= 2) {
      const int other = t ^ d;
      if (other > t && (keys[t] > keys[other]) == ((t & size) == 0)) {
        const int key = keys[t];
        keys[t] = keys[other];
        keys[other] = key;
      }
      __syncthreads();
    }
  if (i < n) data[i] = keys[t];
}

// Each thread looks for the place of its key among the keys of the other tile.
__global__ void merge(int n, const int* in, int* out) {
  __shared__ int keys[2 * tile];
  const int t = threadIdx.x, first = blockIdx.x * 2 * tile;
  for (int k = t; k < 2 * tile; k += tile) keys[k] = first + k < n ? in[first + k] : 1 << 30;
  __syncthreads();
  for (int half = 0; half < 2; ++half) {
    const int key = keys[half * tile + t];
    int low = (1 - half) * tile, high = low + tile;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (keys[middle] < key || (half == 1 && keys[middle] == key))
        low = middle + 1;
      else
        high = middle;
    }
    const int at = first + t + low - (1 - half) * tile;
    if (at < n) out[at] = key;
  }
}

// One bit a pass, stable: zeros keep their places among zeros.
__global__ void sort_digits(int* data) {
  __shared__ int keys[tile];
  __shared__ int zeros[tile];
  const int t = threadIdx.x;
  keys[t] = data[blockIdx.x * tile + t];
  __syncthreads();
  for (int bit = 0; bit < 7; ++bit) {
    const int key = keys[t], zero = (key >> bit & 1) == 0;
    zeros[t] = zero;
    __syncthreads();
    for (int d = 1; d < tile; d *= 2) {
      const int left = t >= d ? zeros[t - d] : 0;
      __syncthreads();
      zeros[t] += left;
      __syncthreads();
    }
    const int all = zeros[tile - 1];
    keys[zero ? zeros[t] - 1 : all + t - zeros[t]] = key;
    __syncthreads();
  }
  data[blockIdx.x * tile + t] = keys[t];
}

int main() {
  const int n = 500, m = 2 * tile;
  Sequence random;
  std::vector<int> values(n), small(m), got(n), got_small(m);
  for (int& v : values) v = static_cast<int>(random.next() % 1000);
  for (int& v : small) v = static_cast<int>(random.next() % 128);
  int *data, *merged, *digits;
  CHECK(cudaMalloc(&data, n * sizeof(int)));
  CHECK(cudaMalloc(&merged, n * sizeof(int)));
  CHECK(cudaMalloc(&digits, m * sizeof(int)));
  CHECK(cudaMemcpy(data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(digits, small.data(), m * sizeof(int), cudaMemcpyHostToDevice));
  sort_tiles<<<4, tile>>>(n, data);
  merge<<<2, tile>>>(n, data, merged);
  sort_digits<<<2, tile>>>(digits);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), merged, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_small.data(), digits, m * sizeof(int), cudaMemcpyDeviceToHost));
  long long sum = 0, sum_small = 0;
  bool pass = true;
  for (int i = 0; i < n; ++i) {
    sum += got[i] * got[i] - values[i] * values[i];
    pass = pass && (i % (2 * tile) == 0 || got[i - 1] <= got[i]);
  }
  for (int i = 0; i < m; ++i) {
    sum_small += got_small[i] * got_small[i] - small[i] * small[i];
    pass = pass && (i % tile == 0 || got_small[i - 1] <= got_small[i]);
  }
  CHECK(cudaFree(data));
  CHECK(cudaFree(merged));
  CHECK(cudaFree(digits));
  return verdict("bitonic", pass && sum == 0 && sum_small == 0);
}
