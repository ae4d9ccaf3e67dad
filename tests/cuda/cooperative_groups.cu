// Cooperative groups: ranks and sizes, shuffles and votes of tiles and coalesced groups, partitions, reductions, scans, copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "check.h"

namespace cg = cooperative_groups;

struct Wide {
  double a;
  short b;
  float c;
};

__global__ void ranks(unsigned int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto quarter = cg::tiled_partition<8>(warp);
  const auto pair = cg::tiled_partition<2>(quarter);
  const cg::thread_block_tile<8> forgotten = quarter;
  unsigned int* o = out + 16 * block.thread_rank();
  o[0] = block.size();
  o[1] = warp.meta_group_rank();
  o[2] = warp.meta_group_size();
  o[3] = quarter.meta_group_rank();
  o[4] = quarter.meta_group_size();
  o[5] = quarter.thread_rank();
  o[6] = pair.meta_group_rank();
  o[7] = pair.meta_group_size();
  o[8] = forgotten.meta_group_rank();
  o[9] = forgotten.meta_group_size();
  o[10] = (unsigned int)cg::this_grid().thread_rank();
  o[11] = (unsigned int)cg::this_grid().size();
}

static __device__ int sum_of_tile(cg::thread_block_tile<16> tile, int v) {
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
  return tile.shfl(v, 0);
}
template <class Group>
static __device__ int sum_by_memory(const Group& g, int* scratch, int v) {
  scratch[g.thread_rank()] = v;
  g.sync();
  int s = 0;
  for (unsigned int i = 0; i < g.size(); ++i) s += scratch[i];
  g.sync();
  return s;
}
static __device__ int sum_erased(cg::thread_group g, int* scratch, int v) { return sum_by_memory(g, scratch, v); }

__global__ void tiles(int* out) {
  __shared__ int scratch[128];
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const int t = (int)block.thread_rank();
  int* o = out + 16 * t;
  o[0] = sum_of_tile(tile, t);
  Wide w = {t * 0.5, (short)-t, (float)t};
  w = tile.shfl(w, 3);
  o[1] = (int)(w.a * 2) + w.b + (int)w.c;
  o[2] = tile.shfl_up(t, 1);
  o[3] = tile.shfl_xor(t, 5);
  o[4] = (int)tile.ballot(t % 3 == 0);
  o[5] = tile.any(t == 20);
  o[6] = tile.all(t < 32);
  o[7] = (int)tile.match_any(t / 4);
  o[8] = sum_erased(block, scratch, t);
  o[9] = sum_erased(tile, scratch + t / 16 * 16, t);
  const cg::thread_group eights = cg::tiled_partition(block, 8);
  o[10] = sum_erased(eights, scratch + t / 8 * 8, t) * 100 + (int)eights.thread_rank();
  const cg::thread_group fours = cg::tiled_partition(eights, 4);
  o[11] = (int)(fours.size() * 10 + fours.thread_rank());
}

__global__ void parts(int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int t = threadIdx.x;
  int* o = out + 16 * t;
  if (t % 3 != 0) {
    const cg::coalesced_group g = cg::coalesced_threads();
    o[0] = (int)(g.size() * 100 + g.thread_rank());
    o[1] = g.shfl(t, 4);
    o[2] = g.shfl_down(t, 2);
    o[3] = g.shfl_up(t, 1);
    o[4] = (int)g.ballot(t > 16);
    o[5] = cg::reduce(g, t, cg::plus<int>());
    const cg::coalesced_group sixes = cg::tiled_partition(g, 6);
    o[6] = (int)(sixes.size() * 10000 + sixes.thread_rank() * 100 + sixes.meta_group_size() * 10 + sixes.meta_group_rank());
    o[7] = cg::inclusive_scan(g, t, cg::plus<int>());
  }
  warp.sync();
  const cg::coalesced_group odd = cg::binary_partition(warp, t % 4 == 1);
  o[8] = (int)(odd.size() * 100 + odd.thread_rank());
  const cg::coalesced_group same = cg::labeled_partition(warp, t % 5);
  o[9] = cg::reduce(same, t, cg::greater<int>());
  o[10] = (int)(same.meta_group_size() * 10 + same.meta_group_rank());
}

__global__ void scans(int* out, double* real) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int t = threadIdx.x;
  const int v = (t * 7) % 11;
  int* o = out + 16 * t;
  o[0] = cg::inclusive_scan(tile, v);
  o[1] = cg::exclusive_scan(tile, v);
  o[2] = cg::inclusive_scan(tile, v, cg::greater<int>());
  o[3] = cg::reduce(tile, v, cg::less<int>());
  o[4] = cg::reduce(tile, v, cg::bit_xor<int>());
  o[5] = cg::reduce(tile, v, [](int a, int b) { return a > b ? a : b; });
  real[t] = cg::reduce(tile, t * 0.25, cg::plus<double>());
}

__global__ void copies(const int* in, int* out, int n) {
  __shared__ int a[300], b[300];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, a, in, sizeof(int) * n);
  cg::memcpy_async(block, b, in + 1, sizeof(int) * (n - 1));
  cg::wait_prior<1>(block);
  for (unsigned int i = block.thread_rank(); i < (unsigned)n; i += block.size()) out[i] = a[n - 1 - i];
  cg::wait(block);
  for (unsigned int i = block.thread_rank(); i < (unsigned)n - 1; i += block.size()) out[n + i] = b[n - 2 - i];
}

int main() {
  const int n = 96;
  {
    Shared<unsigned int> o(16 * 2 * n);
    ranks<<<1, dim3(24, 2, 2)>>>(o.p);
    CUDA(cudaDeviceSynchronize());
    for (unsigned int t = 0; t < n; ++t) {
      const unsigned int wanted[] = {n, t / 32, 3, t % 32 / 8, 4, t % 8, t % 8 / 2, 4, t % 32 / 8, 4, t, n};
      for (int i = 0; i < 12; ++i) EXPECT_EQ_AT(t * 16 + i, o[t * 16 + i], wanted[i]);
    }
  }
  {
    Shared<int> o(16 * n);
    tiles<<<1, n>>>(o.p);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < n; ++t) {
      const int base = t / 16 * 16, sum = 16 * base + 120, eight = t / 8 * 8;
      int threes = 0;
      for (int i = 0; i < 16; ++i) threes |= ((base + i) % 3 == 0) << i;
      const int wanted[] = {sum, base + 3, t % 16 ? t - 1 : t, t ^ 5, threes, base == 16, base < 32, 15 << (t % 16 / 4 * 4),
                            n * (n - 1) / 2, sum, (8 * eight + 28) * 100 + t % 8, 40 + t % 4};
      for (int i = 0; i < 12; ++i) EXPECT_EQ_AT(t * 16 + i, o[t * 16 + i], wanted[i]);
    }
  }
  {
    Shared<int> o(16 * 32);
    parts<<<1, 32>>>(o.p);
    CUDA(cudaDeviceSynchronize());
    std::vector<int> members;
    for (int t = 0; t < 32; ++t)
      if (t % 3 != 0) members.push_back(t);
    const int size = (int)members.size();
    int large = 0, sum = 0;
    for (int r = 0; r < size; ++r) large |= (members[r] > 16) << r;
    for (int r = 0; r < size; ++r) {
      const int t = members[r];
      sum += t;
      const int run = r / 6 * 6 + 6 <= size ? 6 : size % 6;
      const int wanted[] = {size * 100 + r, members[4], r + 2 < size ? members[r + 2] : t, r ? members[r - 1] : t, large, 331,
                            run * 10000 + r % 6 * 100 + (size + 5) / 6 * 10 + r / 6, sum};
      for (int i = 0; i < 8; ++i) EXPECT_EQ_AT(t * 16 + i, o[t * 16 + i], wanted[i]);
    }
    for (int t = 0; t < 32; ++t) {
      EXPECT_EQ_AT(t, o[t * 16 + 8], t % 4 == 1 ? 800 + t / 4 : 2400 + t - (t + 2) / 4);
      EXPECT_EQ_AT(t, o[t * 16 + 9], t % 5 + (31 - t % 5) / 5 * 5);
      EXPECT_EQ_AT(t, o[t * 16 + 10], 50 + t % 5);
    }
  }
  {
    Shared<int> o(16 * 64);
    Shared<double> real(64);
    scans<<<1, 64>>>(o.p, real.p);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < 64; ++t) {
      const int base = t / 8 * 8;
      int sum = 0, most = 0, all_least = 99, all_most = 0, bits = 0, total = 0;
      for (int i = base; i < base + 8; ++i) {
        const int v = (i * 7) % 11;
        if (i <= t) sum += v;
        if (i <= t && v > most) most = v;
        if (v < all_least) all_least = v;
        if (v > all_most) all_most = v;
        bits ^= v;
        total += i;
      }
      const int wanted[] = {sum, sum - (t * 7) % 11, most, all_least, bits, all_most};
      for (int i = 0; i < 6; ++i) EXPECT_EQ_AT(t * 16 + i, o[t * 16 + i], wanted[i]);
      EXPECT_EQ_AT(t, real[t], total * 0.25);
    }
  }
  for (int size = 253; size < 257; ++size) {
    Shared<int> in(size), out(2 * size);
    for (int i = 0; i < size; ++i) in[i] = 3 * i + 1;
    copies<<<1, 64>>>(in.p, out.p, size);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < size; ++i) EXPECT_EQ_AT(i, out[i], in[size - 1 - i]);
    for (int i = 0; i < size - 1; ++i) EXPECT_EQ_AT(i, out[size + i], in[size - 1 - i]);
  }
  return verdict("cooperative_groups");
}
