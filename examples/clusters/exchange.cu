// Clusters of blocks (compute capability 9.0): bins in the shared memory of several blocks, a ring of blocks that hand
// values on, a sum over a cluster, stores that complete at another block's barrier.
//   simtlab build exchange.cu -arch=sm_90 && simtlab run --gpu h100 -- ./exchange [blocks of a cluster]
#include <cooperative_groups.h>

#include "../example.h"

namespace cg = cooperative_groups;
constexpr int width = 64;

// Bins of a histogram, divided among the blocks of a cluster.
__global__ void bins_of_a_cluster(int n, const int* in, int bins, int* out) {
  __shared__ int part[width];
  cg::cluster_group cluster = cg::this_cluster();
  part[threadIdx.x] = 0;
  cluster.sync();
  for (int i = blockIdx.x * width + threadIdx.x; i < n; i += gridDim.x * width) {
    int* there = cluster.map_shared_rank(part, in[i] / width);
    atomicAdd(&there[in[i] % width], 1);
  }
  cluster.sync();
  if (cluster.block_rank() * width + threadIdx.x < bins)
    atomicAdd(&out[cluster.block_rank() * width + threadIdx.x], part[threadIdx.x]);
}

// Each block writes to the next one, once around.
__global__ void ring(const int* in, int* out) {
  __shared__ int box[2][width];
  cg::cluster_group cluster = cg::this_cluster();
  const int blocks = cluster.num_blocks(), me = cluster.block_rank(), t = threadIdx.x;
  int value = in[blockIdx.x * width + t];
  cluster.sync();
  for (int round = 0; round < blocks; ++round) {
    cluster.map_shared_rank(&box[round % 2][0], (me + 1) % blocks)[t] = value;
    cluster.sync();
    value = box[round % 2][t] * 3 + round;
  }
  out[blockIdx.x * width + t] = value;
}

// The first block of a cluster reads what the others have summed up.
__global__ void sums(const int* in, int* out) {
  __shared__ int sum;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * width + threadIdx.x]);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    int all = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) all += *cluster.map_shared_rank(&sum, rank);
    out[blockIdx.x / cluster.num_blocks()] = all;
  }
  cluster.barrier_arrive();  // whose memory is read stays
  cluster.barrier_wait();
}

__device__ unsigned place(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

// A thread stores to the next block; what comes is counted at that block's barrier.
__global__ void mail(const int* in, int* out) {
  __shared__ unsigned long long barrier;
  __shared__ int box[width];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks(), t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&barrier)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(&barrier)), "r"(4 * width) : "memory");
  }
  cluster.sync();
  unsigned to, at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(place(&box[t])), "r"(next));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(place(&barrier)), "r"(next));
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(in[blockIdx.x * width + t] + 1),
               "r"(at)
               : "memory");
  for (unsigned done = 0; done == 0;)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(place(&barrier))
                 : "memory");
  out[blockIdx.x * width + t] = box[t];
  cluster.sync();
}

template <class... Parameters, class... Arguments>
void launch(int blocks, int cluster, void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = width;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
  CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  const int cluster = size_argument(argc, argv, 4, 1, 8), clusters = 3, blocks = cluster * clusters;
  const int n = blocks * width, bins = cluster * width;
  std::vector<int> values(n), got_bins(bins), got_ring(n), got_sums(clusters), got_mail(n);
  for (int i = 0; i < n; ++i) values[i] = i * 7 % bins / 2;
  int *in, *out_bins, *out_ring, *out_sums, *out_mail;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out_bins, bins * sizeof(int)));
  CHECK(cudaMalloc(&out_ring, n * sizeof(int)));
  CHECK(cudaMalloc(&out_sums, clusters * sizeof(int)));
  CHECK(cudaMalloc(&out_mail, n * sizeof(int)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out_bins, 0, bins * sizeof(int)));
  launch(blocks, cluster, bins_of_a_cluster, n, in, bins, out_bins);
  launch(blocks, cluster, ring, in, out_ring);
  launch(blocks, cluster, sums, in, out_sums);
  launch(blocks, cluster, mail, in, out_mail);
  CHECK(cudaMemcpy(got_bins.data(), out_bins, bins * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_ring.data(), out_ring, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_sums.data(), out_sums, clusters * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_mail.data(), out_mail, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int* p : {in, out_bins, out_ring, out_sums, out_mail}) CHECK(cudaFree(p));

  std::vector<int> want_bins(bins), want_sums(clusters);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    ++want_bins[values[i]];
    want_sums[i / width / cluster] += values[i];
    const int block = i / width, first = block / cluster * cluster, before = first + (block - first + cluster - 1) % cluster;
    wrong += got_mail[i] != values[before * width + i % width] + 1;
    int value = values[i];  // after a whole round it is back
    for (int round = 0; round < cluster; ++round) value = value * 3 + round;
    wrong += got_ring[i] != value;
  }
  for (int i = 0; i < bins; ++i) wrong += got_bins[i] != want_bins[i];
  for (int i = 0; i < clusters; ++i) wrong += got_sums[i] != want_sums[i];
  std::printf("clusters of %d blocks: %d wrong\n", cluster, wrong);
  return wrong == 0 ? 0 : 1;
}
