// Running sums: each block scans its part, one block scans the blocks' sums, a third kernel adds them.
#include "../example.h"

__global__ void scan_blocks(int n, const int* in, int* out, int* sums) {
  __shared__ int a[128], b[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  a[t] = i < n ? in[i] : 0;
  __syncthreads();
  int *from = a, *to = b;
  for (int d = 1; d < 128; d *= 2) {
    to[t] = t >= d ? from[t] + from[t - d] : from[t];
    __syncthreads();
    int* const other = from;
    from = to;
    to = other;
  }
  if (i < n) out[i] = from[t];
  if (t == 127) sums[blockIdx.x] = from[127];
}

// In place, up and down a tree; what it leaves does not hold the element itself.
__global__ void scan_sums(int* sums, int count) {
  __shared__ int tree[64];
  const int t = threadIdx.x;
  tree[t] = 0;
  if (t < count) tree[t] = sums[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    const int k = (t + 1) * d * 2 - 1;
    if (k < 64) tree[k] += tree[k - d];
    __syncthreads();
  }
  if (t == 0) tree[63] = 0;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    const int k = (t + 1) * d * 2 - 1;
    if (k < 64) {
      const int left = tree[k - d];
      tree[k - d] = tree[k];
      tree[k] += left;
    }
    __syncthreads();
  }
  if (t < count) sums[t] = tree[t];
}

__global__ void add_sums(int n, const int* sums, int* out) {
  __shared__ int before;
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (threadIdx.x == 0) before = sums[blockIdx.x];
  __syncthreads();
  if (i < n) out[i] += before;
}

int main() {
  const int n = 5000, blocks = 40;
  Sequence random;
  std::vector<int> values(n), want(n), got(n);
  for (int i = 0, sum = 0; i < n; ++i) want[i] = sum += values[i] = static_cast<int>(random.next() % 100);
  int *in, *out, *sums;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  CHECK(cudaMalloc(&sums, blocks * sizeof(int)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  scan_blocks<<<blocks, 128>>>(n, in, out, sums);
  scan_sums<<<1, 64>>>(sums, blocks);
  add_sums<<<blocks, 128>>>(n, sums, out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(sums));
  return verdict("scan", got == want);
}
