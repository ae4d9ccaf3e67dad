// Integer intrinsics against their definitions in plain C++.
#include <cstdint>

#include "check.h"

typedef unsigned long long u64;
typedef __int128 i128;
const int functions = 48;

__global__ void compute(const unsigned int* in, u64* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned int a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
  const int sa = (int)a, sb = (int)b;
  const u64 l = (u64)a << 32 | b, m = (u64)c << 32 | a;
  u64* o = out + i * functions;
  int k = 0;
  o[k++] = __brev(a);
  o[k++] = __clz(a >> (b & 31));
  o[k++] = __ffs(a << (b & 31));
  o[k++] = __popc(a);
  o[k++] = __byte_perm(a, b, c);
  o[k++] = __funnelshift_l(a, b, c);
  o[k++] = __funnelshift_r(a, b, c);
  o[k++] = __funnelshift_lc(a, b, c & 63);
  o[k++] = __funnelshift_rc(a, b, c & 63);
  o[k++] = (unsigned int)__dp4a(sa, sb, (int)c);
  o[k++] = __dp4a(a, b, c);
  o[k++] = (unsigned int)__dp2a_lo(sa, sb, (int)c);
  o[k++] = __dp2a_hi(a, b, c);
  o[k++] = (unsigned int)__mul24(sa, sb);
  o[k++] = __umul24(a, b);
  o[k++] = (unsigned int)__mulhi(sa, sb);
  o[k++] = __umulhi(a, b);
  o[k++] = __sad(sa, sb, c);
  o[k++] = __usad(a, b, c);
  o[k++] = (unsigned int)__hadd(sa, sb);
  o[k++] = (unsigned int)__rhadd(sa, sb);
  o[k++] = __uhadd(a, b);
  o[k++] = __urhadd(a, b);
  o[k++] = __clzll(l >> (c & 63));
  o[k++] = __ffsll(l << (c & 63));
  o[k++] = __popcll(l);
  o[k++] = __brevll(l);
  o[k++] = __umul64hi(l, m);
  o[k++] = (u64)__mul64hi((long long)l, (long long)m);
  o[k++] = l / (m | 1);
  o[k++] = (u64)((long long)l % (long long)(m | 1));
  o[k++] = __vadd4(a, b);
  o[k++] = __vabsdiffu4(a, b);
  o[k++] = __vsadu4(a, b);
  o[k++] = __vcmpgtu4(a, b);
  o[k++] = __vmaxs2(a, b);
  o[k++] = __vsubss2(a, b);
  o[k++] = (unsigned int)abs(sa);
  o[k++] = min(a, b);
  o[k++] = (unsigned int)max(sa, sb);
  o[k++] = (u64)llabs((long long)l);
  while (k < functions) o[k++] = 0;
}

static void define(unsigned int a, unsigned int b, unsigned int c, u64* o) {
  const int sa = (int)a, sb = (int)b;
  const long long wa = sa, wb = sb;
  const u64 l = (u64)a << 32 | b, m = (u64)c << 32 | a, pair = (u64)b << 32 | a;
  const auto u8 = [](unsigned int v, int i) { return (int)(v >> 8 * i & 255); };
  const auto s8 = [&](unsigned int v, int i) { return (int)(int8_t)u8(v, i); };
  const auto s16 = [](unsigned int v, int i) { return (int)(int16_t)(v >> 16 * i); };
  const auto first = [](u64 v, int bits) { return v == 0 ? bits : __builtin_clzll(v) - (64 - bits); };
  u64 reversed = 0, permuted = 0, reversed_long = 0;
  for (int i = 0; i < 32; ++i) reversed |= (u64)(a >> i & 1) << (31 - i);
  for (int i = 0; i < 64; ++i) reversed_long |= (l >> i & 1) << (63 - i);
  for (int i = 0; i < 4; ++i) {
    const unsigned int selector = c >> 4 * i & 15;
    u64 byte = pair >> 8 * (selector & 7) & 255;
    if (selector & 8) byte = byte & 128 ? 255 : 0;
    permuted |= byte << 8 * i;
  }
  int dots = (int)c, dots2 = (int)c;
  unsigned int dotu = c, dotu2 = c;
  u64 added = 0, different = 0, distance = 0, greater = 0, most = 0, clamped = 0;
  for (int i = 0; i < 4; ++i) {
    dots += s8(a, i) * s8(b, i);
    dotu += (unsigned int)(u8(a, i) * u8(b, i));
    added |= (u64)((u8(a, i) + u8(b, i)) & 255) << 8 * i;
    const int d = abs(u8(a, i) - u8(b, i));
    different |= (u64)d << 8 * i;
    distance += d;
    if (u8(a, i) > u8(b, i)) greater |= 255ull << 8 * i;
  }
  for (int i = 0; i < 2; ++i) {
    dots2 += s16(a, i) * s8(b, i);
    dotu2 += (a >> 16 * i & 65535) * (unsigned int)u8(b, 2 + i);
    const int x = s16(a, i), y = s16(b, i), d = x - y < -32768 ? -32768 : x - y > 32767 ? 32767 : x - y;
    most |= (u64)((x > y ? x : y) & 65535) << 16 * i;
    clamped |= (u64)(d & 65535) << 16 * i;
  }
  const int shift = (c & 63) > 32 ? 32 : (int)(c & 63);
  int k = 0;
  o[k++] = reversed;
  o[k++] = first(a >> (b & 31), 32);
  o[k++] = __builtin_ffs((int)(a << (b & 31)));
  o[k++] = __builtin_popcount(a);
  o[k++] = permuted;
  o[k++] = (unsigned int)(pair << (c & 31) >> 32);
  o[k++] = (unsigned int)(pair >> (c & 31));
  o[k++] = shift == 32 ? a : (unsigned int)(pair << shift >> 32);
  o[k++] = (unsigned int)(pair >> shift);
  o[k++] = (unsigned int)dots;
  o[k++] = dotu;
  o[k++] = (unsigned int)dots2;
  o[k++] = dotu2;
  o[k++] = (unsigned int)((long long)((int)(a << 8) >> 8) * ((int)(b << 8) >> 8));
  o[k++] = (unsigned int)((u64)(a & 0xffffff) * (b & 0xffffff));
  o[k++] = (unsigned int)(wa * wb >> 32);
  o[k++] = (unsigned int)((u64)a * b >> 32);
  o[k++] = (unsigned int)((wa > wb ? wa - wb : wb - wa) + c);
  o[k++] = (a > b ? a - b : b - a) + c;
  o[k++] = (unsigned int)((wa + wb) >> 1);
  o[k++] = (unsigned int)((wa + wb + 1) >> 1);
  o[k++] = (unsigned int)(((u64)a + b) >> 1);
  o[k++] = (unsigned int)(((u64)a + b + 1) >> 1);
  o[k++] = first(l >> (c & 63), 64);
  o[k++] = __builtin_ffsll((long long)(l << (c & 63)));
  o[k++] = __builtin_popcountll(l);
  o[k++] = reversed_long;
  o[k++] = (u64)((unsigned __int128)l * m >> 64);
  o[k++] = (u64)((i128)(long long)l * (long long)m >> 64);
  o[k++] = l / (m | 1);
  o[k++] = (u64)((long long)l % (long long)(m | 1));
  o[k++] = added;
  o[k++] = different;
  o[k++] = distance;
  o[k++] = greater;
  o[k++] = most;
  o[k++] = clamped;
  o[k++] = sa < 0 ? 0u - a : a;
  o[k++] = a < b ? a : b;
  o[k++] = sa > sb ? a : b;
  o[k++] = (long long)l < 0 ? 0 - l : l;
  while (k < functions) o[k++] = 0;
}

int main() {
  const int n = 1024;
  Shared<unsigned int> in(3 * n);
  Shared<u64> out(n * functions);
  const unsigned int edges[] = {0, 1, 0xffffffffu, 0x80000000u, 0x7fffffffu};
  unsigned int seed = 12345;
  for (int i = 0; i < 3 * n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    in[i] = i < 375 ? edges[i % 3 == 0 ? i / 3 % 5 : i % 3 == 1 ? i / 15 % 5 : i / 75 % 5] : seed ^ seed >> 15;
  }
  compute<<<n / 128, 128>>>(in.p, out.p, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    u64 wanted[functions];
    define(in[3 * i], in[3 * i + 1], in[3 * i + 2], wanted);
    for (int k = 0; k < functions; ++k)
      if (out[i * functions + k] != wanted[k]) {
        char text[160];
        snprintf(text, sizeof text, "function %d of %x %x %x: %llx, not %llx", k, in[3 * i], in[3 * i + 1], in[3 * i + 2],
                 out[i * functions + k], wanted[k]);
        report(__FILE__, __LINE__, text);
      }
  }
  return verdict("integer_intrinsics");
}
