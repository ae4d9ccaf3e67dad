// Warp functions: the nine reductions, shuffles of every type, votes, matches.
#include "check.h"

__global__ void reductions(const unsigned int* in, unsigned int* out) {
  const unsigned int t = threadIdx.x, v = in[t];
  unsigned int* o = out + 16 * t;
  const unsigned int all = 0xffffffffu;
  o[0] = __reduce_add_sync(all, v);
  o[1] = __reduce_min_sync(all, v);
  o[2] = __reduce_max_sync(all, v);
  o[3] = (unsigned int)__reduce_add_sync(all, (int)v);
  o[4] = (unsigned int)__reduce_min_sync(all, (int)v);
  o[5] = (unsigned int)__reduce_max_sync(all, (int)v);
  o[6] = __reduce_and_sync(all, v);
  o[7] = __reduce_or_sync(all, v);
  o[8] = __reduce_xor_sync(all, v);
  if (t % 2 == 0)
    o[9] = __reduce_add_sync(0x55555555u, v);
  else
    o[9] = __reduce_xor_sync(0xaaaaaaaau, v);
}

template <class T>
__global__ void shuffles(T* out) {
  const int t = threadIdx.x;
  const T v = (T)(t * 3 + 1);
  out[t * 4] = __shfl_sync(0xffffffffu, v, 31 - t);
  out[t * 4 + 1] = __shfl_up_sync(0xffffffffu, v, 3, 8);
  out[t * 4 + 2] = __shfl_down_sync(0xffffffffu, v, 5);
  out[t * 4 + 3] = __shfl_xor_sync(0xffffffffu, v, 6, 16);
}
template <class T>
static void check_shuffles() {
  Shared<T> o(128);
  shuffles<<<1, 32>>>(o.p);
  CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < 32; ++t) {
    const int from[] = {31 - t, t % 8 >= 3 ? t - 3 : t, t + 5 < 32 ? t + 5 : t, t ^ 6};
    for (int i = 0; i < 4; ++i) EXPECT_EQ_AT(t * 4 + i, o[t * 4 + i], (T)(from[i] * 3 + 1));
  }
}

__global__ void votes(unsigned int* out) {
  const unsigned int t = threadIdx.x;
  unsigned int* o = out + 8 * t;
  o[0] = __ballot_sync(0xffffffffu, t % 5 == 0);
  o[1] = (unsigned int)__any_sync(0xffffffffu, t == 7) * 2 + (unsigned int)__all_sync(0xffffffffu, t < 31);
  o[2] = __match_any_sync(0xffffffffu, t / 8);
  o[3] = __match_any_sync(0xffffffffu, (unsigned long long)(t % 3) << 40);
  int same = 5;
  o[4] = __match_all_sync(0xffffffffu, 1.5f, &same) & (unsigned int)-(same == 1);
  o[5] = __match_all_sync(0xffffffffu, t, &same) + (unsigned int)(same == 0);
  if (t & 1) o[6] = __activemask();
}

int main() {
  Shared<unsigned int> in(32), o(512);
  for (unsigned int i = 0; i < 32; ++i) in[i] = i * 2654435761u | 0x1000u;
  reductions<<<1, 32>>>(in.p, o.p);
  CUDA(cudaDeviceSynchronize());
  unsigned int w[11] = {0, ~0u, 0, 0, 0x7fffffffu, 0x80000000u, ~0u, 0, 0, 0, 0};
  for (int i = 0; i < 32; ++i) {
    const unsigned int v = in[i];
    w[0] += v;
    w[1] = v < w[1] ? v : w[1];
    w[2] = v > w[2] ? v : w[2];
    w[4] = (int)v < (int)w[4] ? v : w[4];
    w[5] = (int)v > (int)w[5] ? v : w[5];
    w[6] &= v;
    w[7] |= v;
    w[8] ^= v;
    if (i % 2 == 0) w[9] += v; else w[10] ^= v;
  }
  w[3] = w[0];
  for (int t = 0; t < 32; ++t)
    for (int i = 0; i < 10; ++i) EXPECT_EQ_AT(t * 16 + i, o[t * 16 + i], w[i == 9 && t % 2 ? 10 : i]);

  check_shuffles<int>();
  check_shuffles<unsigned int>();
  check_shuffles<float>();
  check_shuffles<long long>();
  check_shuffles<double>();

  votes<<<1, 32>>>(o.p);
  CUDA(cudaDeviceSynchronize());
  unsigned int fives = 0, thirds[3] = {0, 0, 0};
  for (int t = 0; t < 32; ++t) {
    fives |= (unsigned int)(t % 5 == 0) << t;
    thirds[t % 3] |= 1u << t;
  }
  for (unsigned int t = 0; t < 32; ++t) {
    const unsigned int wanted[] = {fives, 2, 0xffu << (t / 8 * 8), thirds[t % 3], 0xffffffffu, 1, t & 1 ? 0xaaaaaaaau : 0u};
    const int count = t & 1 ? 7 : 6;
    for (int i = 0; i < count; ++i) EXPECT_EQ_AT(t * 8 + i, o[t * 8 + i], wanted[i]);
  }
  return verdict("warp_reduce");
}
