// A tree of sums from its leaves to the root: at each node the thread that comes second goes on.
#include "../example.h"

constexpr int leaves = 256;

__global__ void up(const int* in, int* sums, int* most, unsigned* visits) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  int node = leaves - 1 + i;
  sums[node] = in[i];
  most[node] = in[i];
  while (node > 0) {
    node = (node - 1) / 2;
    __threadfence();
    if (atomicAdd(&visits[node], 1u) == 0) return;
    __threadfence();
    sums[node] = sums[2 * node + 1] + sums[2 * node + 2];
    most[node] = max(most[2 * node + 1], most[2 * node + 2]);
  }
}

// The same within a block, in shared memory.
__global__ void up_in_block(const int* in, int* out) {
  __shared__ int sums[127];
  __shared__ unsigned visits[63];
  const int t = threadIdx.x;
  sums[63 + t] = in[blockIdx.x * 64 + t];
  if (t < 63) visits[t] = 0;
  __syncthreads();
  int node = 63 + t;
  while (node > 0) {
    node = (node - 1) / 2;
    __threadfence_block();
    if (atomicAdd(&visits[node], 1u) == 0) break;
    __threadfence_block();
    sums[node] = sums[2 * node + 1] + sums[2 * node + 2];
  }
  __syncthreads();
  if (t == 0) out[blockIdx.x] = sums[0];
}

// Downwards in several launches: each thread hands its node's depth to its children.
__global__ void down(int first, int count, int* depth) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < count) {
    const int node = first + i;
    depth[2 * node + 1] = depth[node] + 1;
    depth[2 * node + 2] = depth[node] + 1;
  }
}

int main() {
  const int nodes = 2 * leaves - 1;
  std::vector<int> values(leaves), got(nodes), got_most(nodes), got_depth(nodes), got_blocks(leaves / 64);
  for (int i = 0; i < leaves; ++i) values[i] = i * 37 % 101;
  int *in, *sums, *most, *depth, *blocks;
  unsigned* visits;
  CHECK(cudaMalloc(&in, leaves * sizeof(int)));
  CHECK(cudaMalloc(&sums, nodes * sizeof(int)));
  CHECK(cudaMalloc(&most, nodes * sizeof(int)));
  CHECK(cudaMalloc(&depth, nodes * sizeof(int)));
  CHECK(cudaMalloc(&blocks, leaves / 64 * sizeof(int)));
  CHECK(cudaMalloc(&visits, (leaves - 1) * sizeof(unsigned)));
  CHECK(cudaMemcpy(in, values.data(), leaves * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(visits, 0, (leaves - 1) * sizeof(unsigned)));
  CHECK(cudaMemset(depth, 0, sizeof(int)));
  up<<<leaves / 32, 32>>>(in, sums, most, visits);
  up_in_block<<<leaves / 64, 64>>>(in, blocks);
  for (int count = 1; 2 * count <= leaves; count *= 2) down<<<(count + 31) / 32, 32>>>(count - 1, count, depth);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), sums, nodes * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_most.data(), most, nodes * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_depth.data(), depth, nodes * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_blocks.data(), blocks, leaves / 64 * sizeof(int), cudaMemcpyDeviceToHost));
  bool pass = true;
  for (int node = nodes - 1, sum = 0; node >= 0; --node) {
    if (node >= leaves - 1) {
      pass = pass && got[node] == values[node - leaves + 1];
    } else {
      sum = got[2 * node + 1] + got[2 * node + 2];
      pass = pass && got[node] == sum && got_most[node] == std::max(got_most[2 * node + 1], got_most[2 * node + 2]);
    }
    pass = pass && (node == 0 ? got_depth[0] == 0 : got_depth[node] == got_depth[(node - 1) / 2] + 1);
  }
  pass = pass && got_blocks[0] + got_blocks[1] + got_blocks[2] + got_blocks[3] == got[0];
  CHECK(cudaFree(in));
  CHECK(cudaFree(sums));
  CHECK(cudaFree(most));
  CHECK(cudaFree(depth));
  CHECK(cudaFree(blocks));
  CHECK(cudaFree(visits));
  return verdict("tree", pass);
}
