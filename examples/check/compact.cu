// Elements that satisfy a condition, in their order: counts of blocks, their running sum, and a scatter.
#include "../example.h"

__global__ void count(int n, const int* in, int* counts) {
  __shared__ int sum;
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (t == 0) sum = 0;
  __syncthreads();
  const bool wanted = i < n && in[i] % 3 == 0;
  const unsigned votes = __ballot_sync(0xffffffff, wanted);
  if (t % 32 == 0) atomicAdd(&sum, __popc(votes));
  __syncthreads();
  if (t == 0) counts[blockIdx.x] = sum;
}

__global__ void offsets(int blocks, int* counts, int* total) {
  __shared__ int sums[32];
  const int t = threadIdx.x;
  const int mine = t < blocks ? counts[t] : 0;
  sums[t] = mine;
  __syncwarp();
  for (int d = 1; d < 32; d *= 2) {
    const int left = t >= d ? sums[t - d] : 0;
    __syncwarp();
    sums[t] += left;
    __syncwarp();
  }
  if (t < blocks) counts[t] = sums[t] - mine;
  if (t == 31) *total = sums[t];
}

__global__ void scatter(int n, const int* in, const int* offset, int* out) {
  __shared__ int warps[4];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 128 + t;
  const bool wanted = i < n && in[i] % 3 == 0;
  const unsigned votes = __ballot_sync(0xffffffff, wanted);
  if (lane == 0) warps[warp] = __popc(votes);
  __syncthreads();
  int at = offset[blockIdx.x] + __popc(votes & ((1u << lane) - 1));
  for (int w = 0; w < warp; ++w) at += warps[w];
  if (wanted) out[at] = in[i];
}

// Where the value changes: each thread looks at its neighbour's, across warps by shared memory.
__global__ void changes(int n, const int* in, int* marks) {
  __shared__ int last[4];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 128 + t;
  const int v = i < n ? in[i] : 0;
  if (lane == 31) last[warp] = v;
  int before = __shfl_up_sync(0xffffffff, v, 1);
  __syncthreads();
  if (lane == 0) before = warp > 0 ? last[warp - 1] : v;
  if (i < n) marks[i] = v != before;
}

int main() {
  const int n = 1900, blocks = 15;
  Sequence random;
  std::vector<int> values(n), want, got_marks(n);
  for (int& v : values) {
    v = static_cast<int>(random.next() % 12);
    if (v % 3 == 0) want.push_back(v);
  }
  const int many = static_cast<int>(want.size());
  int *in, *counts, *total, *out, *marks;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&counts, blocks * sizeof(int)));
  CHECK(cudaMalloc(&total, sizeof(int)));
  CHECK(cudaMalloc(&out, many * sizeof(int)));
  CHECK(cudaMalloc(&marks, n * sizeof(int)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  count<<<blocks, 128>>>(n, in, counts);
  offsets<<<1, 32>>>(blocks, counts, total);
  scatter<<<blocks, 128>>>(n, in, counts, out);
  changes<<<blocks, 128>>>(n, in, marks);
  CHECK(cudaGetLastError());
  int got_total;
  std::vector<int> got(many);
  CHECK(cudaMemcpy(&got_total, total, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got.data(), out, many * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_marks.data(), marks, n * sizeof(int), cudaMemcpyDeviceToHost));
  bool pass = got == want && got_total == many;
  for (int i = 0; i < n; ++i)
    pass = pass && got_marks[i] == (i % 128 != 0 && values[i] != values[i - 1]);
  CHECK(cudaFree(in));
  CHECK(cudaFree(counts));
  CHECK(cudaFree(total));
  CHECK(cudaFree(out));
  CHECK(cudaFree(marks));
  return verdict("compact", pass);
}
