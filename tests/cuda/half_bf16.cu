// half and bfloat16: every operation on the device and on the host against arithmetic in long double, rounded once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <limits>

#include "check.h"

// A real number rounded to a 16-bit format, by definition.
static double rounded(long double v, int fraction_bits, int least_exponent, double greatest, int mode = 0) {
  if (v != v || v == 0 || std::isinf((double)v)) return (double)v;
  int e = std::ilogb(v);
  if (e < least_exponent) e = least_exponent;
  const long double unit = ldexpl(1.0L, e - fraction_bits);
  const long double q = v / unit;
  const long double r = mode == 0 ? nearbyintl(q) : mode == 1 ? truncl(q) : mode == 2 ? ceill(q) : floorl(q);
  const double result = (double)(r * unit);
  if (fabs(result) <= greatest) return result;
  const bool infinite = mode == 0 || (mode == 2 && v > 0) || (mode == 3 && v < 0);
  return copysign(infinite ? INFINITY : greatest, (double)v);
}
template <class H>
struct Format;
template <>
struct Format<__half> {
  typedef __half2 Pair;
  static double round(long double v, int mode = 0) { return rounded(v, 10, -14, 65504.0, mode); }
  static __host__ __device__ __half from_bits(unsigned short b) { return __ushort_as_half(b); }
};
template <>
struct Format<__nv_bfloat16> {
  typedef __nv_bfloat162 Pair;
  static double round(long double v, int mode = 0) { return rounded(v, 7, -126, 0x1.fep127, mode); }
  static __host__ __device__ __nv_bfloat16 from_bits(unsigned short b) { return __ushort_as_bfloat16(b); }
};

const int kinds = 40;
// Every result as a double, in an order that the reference below knows.
template <class H>
__host__ __device__ void operate(H a, H b, H c, double* o) {
  typedef typename Format<H>::Pair P;
  const P p(a, b), q(b, c), r(c, a);
  int n = 0;
  o[n++] = (double)(float)__hadd(a, b);
  o[n++] = (double)(float)__hsub(a, b);
  o[n++] = (double)(float)__hmul(a, b);
  o[n++] = (double)(float)__hdiv(a, b);
  o[n++] = (double)(float)__hfma(a, b, c);
  o[n++] = (double)(float)__hadd_sat(a, b);
  o[n++] = (double)(float)__hsub_sat(a, b);
  o[n++] = (double)(float)__hmul_sat(a, b);
  o[n++] = (double)(float)__hfma_sat(a, b, c);
  o[n++] = (double)(float)__hfma_relu(a, b, c);
  o[n++] = (double)(float)__hmax(a, b);
  o[n++] = (double)(float)__hmin_nan(a, b);
  P v = __hadd2(p, q);
  o[n++] = (double)(float)v.y;
  v = __hfma2_relu(p, q, r);
  o[n++] = (double)(float)v.y;
  v = __hmul2_sat(p, q);
  o[n++] = (double)(float)v.x + (double)(float)v.y;
  v = __hcmadd(p, q, r);
  o[n++] = (double)(float)v.x;
  o[n++] = (double)(float)v.y;
  v = __hge2(p, q);
  o[n++] = (double)(float)v.x * 2 + (double)(float)v.y;
  v = __hltu2(p, q);
  o[n++] = (double)(float)v.x * 2 + (double)(float)v.y;
  o[n++] = __hbgt2(p, q) + 2 * __hbge2(p, q) + 4 * __hblt2(p, q) + 8 * __hble2(p, q) + 16 * __hbeq2(p, p) + 32 * __hbne2(p, q);
  o[n++] = __hbgtu2(p, q) + 2 * __hbgeu2(p, q) + 4 * __hbltu2(p, q) + 8 * __hbleu2(p, q) + 16 * __hbequ2(p, p) + 32 * __hbneu2(p, q);
  o[n++] = __hgt2_mask(p, q);
  o[n++] = __hleu2_mask(p, q);
  H s = a;
  o[n++] = (double)(float)s++;
  o[n++] = (double)(float)s;
  o[n++] = (double)(float)--s;
  P t = p;
  ++t;
  o[n++] = (double)(float)t.y;
  o[n++] = (double)(float)-a;
  o[n++] = (p == p) + 2 * (p != q) + 4 * (p < q);
  while (n < kinds) o[n++] = 0;
}
template <class H>
static void reference(H ha, H hb, H hc, double* o) {
  typedef Format<H> F;
  const double a = (float)ha, b = (float)hb, c = (float)hc;
  const auto sat = [](double v) { return v > 0 ? (v < 1 ? v : 1.0) : 0.0; };
  const auto relu = [](double v) { return v != v || v > 0 ? v : 0.0; };
  const auto fma = [](double x, double y, double z) { return F::round((long double)x * y + z); };
  const auto less = [](double x, double y) { return x < y; };
  const bool nab = a != a || b != b, nbc = b != b || c != c;
  const double sum = F::round((long double)a + b), difference = F::round((long double)a - b), product = F::round((long double)a * b);
  int n = 0;
  o[n++] = sum;
  o[n++] = difference;
  o[n++] = product;
  o[n++] = b == 0 ? a / b : F::round((long double)a / b);
  o[n++] = fma(a, b, c);
  o[n++] = sat(sum);
  o[n++] = sat(difference);
  o[n++] = sat(product);
  o[n++] = sat(fma(a, b, c));
  o[n++] = relu(fma(a, b, c));
  o[n++] = fmax(a, b);
  o[n++] = nab ? NAN : fmin(a, b);
  o[n++] = F::round((long double)b + c);
  o[n++] = relu(fma(b, c, a));
  o[n++] = sat(product) + sat(F::round((long double)b * c));
  o[n++] = fma(-b, c, fma(a, b, c));
  o[n++] = fma(b, b, fma(a, c, a));
  o[n++] = (a >= b) * 2 + (b >= c);
  o[n++] = (less(a, b) || nab) * 2 + (less(b, c) || nbc);
  o[n++] = (a > b && b > c) + 2 * (a >= b && b >= c) + 4 * (a < b && b < c) + 8 * (a <= b && b <= c) + 16 * (a == a && b == b) +
           32 * ((a < b || a > b) && (b < c || b > c));
  o[n++] = (!(a <= b) && !(b <= c)) + 2 * (!(a < b) && !(b < c)) + 4 * (!(a >= b) && !(b >= c)) + 8 * (!(a > b) && !(b > c)) + 16 +
           32 * (a != b && b != c);
  o[n++] = (a > b ? 0xffffu : 0u) | (b > c ? 0xffff0000u : 0u);
  o[n++] = (!(a > b) ? 0xffffu : 0u) | (!(b > c) ? 0xffff0000u : 0u);
  o[n++] = a;
  const double next = F::round((long double)a + 1);
  o[n++] = next;
  o[n++] = F::round((long double)next - 1);
  o[n++] = F::round((long double)b + 1);
  o[n++] = -a;
  o[n++] = (a == a && b == b) + 2 * (a != b && b != c) + 4 * (a < b && b < c);
  while (n < kinds) o[n++] = 0;
}
template <class H>
__global__ void operate_all(const unsigned short* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    operate(Format<H>::from_bits(in[3 * i]), Format<H>::from_bits(in[3 * i + 1]), Format<H>::from_bits(in[3 * i + 2]), out + i * kinds);
}
static bool same(double a, double b) { return a == b || (a != a && b != b); }
template <class H>
static void arithmetic(const char* name, unsigned short one, int range) {
  const int n = 1500;
  Shared<unsigned short> in(3 * n);
  Shared<double> out(n * kinds);
  unsigned int seed = 7;
  const unsigned short special[] = {0, 0x8000, one, (unsigned short)(one | 0x8000), 1, 0x8001, 0x7fff};
  for (int i = 0; i < 3 * n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    // Near 1, so that sums, products and comparisons are not decided by the exponents alone.
    in[i] = seed >> 28 == 0 ? special[(seed >> 10) % 7] : (unsigned short)(one - range + (seed >> 8) % (2 * range) + (seed >> 31 << 15));
  }
  operate_all<H><<<(n + 127) / 128, 128>>>(in.p, out.p, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    double wanted[kinds], host[kinds];
    const H a = Format<H>::from_bits(in[3 * i]), b = Format<H>::from_bits(in[3 * i + 1]), c = Format<H>::from_bits(in[3 * i + 2]);
    reference(a, b, c, wanted);
    operate(a, b, c, host);
    for (int k = 0; k < kinds; ++k)
      if (!same(out[i * kinds + k], wanted[k]) || !same(host[k], wanted[k])) {
        char text[200];
        snprintf(text, sizeof text, "%s operation %d of %g %g %g: device %.9g, host %.9g, right %.9g", name, k, (double)(float)a,
                 (double)(float)b, (double)(float)c, out[i * kinds + k], host[k], wanted[k]);
        report(__FILE__, __LINE__, text);
      }
  }
}

// Conversions from and to integers.
const int conversions = 24;
__host__ __device__ static void convert(__half h, __nv_bfloat16 b, long long i, double* o) {
  int n = 0;
  o[n++] = __half2int_rn(h);
  o[n++] = __half2int_rd(h);
  o[n++] = __half2short_rz(h);
  o[n++] = __half2ushort_ru(h);
  o[n++] = __half2uint_rn(h);
  o[n++] = (double)__half2ll_rn(h);
  o[n++] = __half2char_rz(h);
  o[n++] = __half2uchar_rz(h);
  o[n++] = __bfloat162int_rn(b);
  o[n++] = __bfloat162short_ru(b);
  o[n++] = (double)__bfloat162ull_rz(b);
  o[n++] = (double)(float)__int2half_rn((int)i);
  o[n++] = (double)(float)__int2half_rz((int)i);
  o[n++] = (double)(float)__ll2half_ru(i);
  o[n++] = (double)(float)__int2bfloat16_rn((int)i);
  o[n++] = (double)(float)__int2bfloat16_rd((int)i);
  o[n++] = (double)(float)__ll2bfloat16_rn(i);
  o[n++] = (double)(float)__ull2bfloat16_ru((unsigned long long)i);
  o[n++] = (double)(float)__double2half(i * 0.001);
  o[n++] = (double)(float)__double2bfloat16(i * 0.001);
  while (n < conversions) o[n++] = 0;
}
template <class T>
static double clamped(double v) {
  if (v != v) return sizeof(T) == 8 ? (double)(T)(1ull << 63) : 0;
  const double least = (double)std::numeric_limits<T>::min(), most = (double)std::numeric_limits<T>::max();
  return v < least ? least : v > most ? most : v;
}
static void convert_right(__half hh, __nv_bfloat16 hb, long long i, double* o) {
  typedef Format<__half> F;
  typedef Format<__nv_bfloat16> B;
  const double h = (float)hh, b = (float)hb;
  const long double real = i * 0.001;
  int n = 0;
  o[n++] = clamped<int>(nearbyint(h));
  o[n++] = clamped<int>(floor(h));
  o[n++] = clamped<short>(trunc(h));
  o[n++] = clamped<unsigned short>(ceil(h));
  o[n++] = clamped<unsigned int>(nearbyint(h));
  o[n++] = clamped<long long>(nearbyint(h));
  o[n++] = clamped<signed char>(trunc(h));
  o[n++] = clamped<unsigned char>(trunc(h));
  o[n++] = clamped<int>(nearbyint(b));
  o[n++] = clamped<short>(ceil(b));
  o[n++] = clamped<unsigned long long>(trunc(b));
  o[n++] = F::round((int)i);
  o[n++] = F::round((int)i, 1);
  o[n++] = F::round(i, 2);
  o[n++] = B::round((int)i);
  o[n++] = B::round((int)i, 3);
  o[n++] = B::round(i);
  o[n++] = B::round((unsigned long long)i, 2);
  o[n++] = F::round(real);
  o[n++] = B::round(real);
  while (n < conversions) o[n++] = 0;
}
__global__ void convert_all(const unsigned short* in, const long long* integers, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) convert(__ushort_as_half(in[2 * i]), __ushort_as_bfloat16(in[2 * i + 1]), integers[i], out + i * conversions);
}
static void all_conversions() {
  const int n = 2048;
  Shared<unsigned short> in(2 * n);
  Shared<long long> integers(n);
  Shared<double> out(n * conversions);
  unsigned long long seed = 99;
  for (int i = 0; i < n; ++i) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    in[2 * i] = (unsigned short)(i * 32 + i % 29);
    in[2 * i + 1] = (unsigned short)(seed >> 48);
    integers[i] = (long long)seed >> (seed & 63);
    // Ties of bfloat16 that one unit far below decides: rounding twice gets them wrong.
    if (i % 8 == 0) integers[i] = (1ll << 30) + ((2 * (long long)(i / 8 % 128) + 1) << 22) + i % 3 - 1;
  }
  convert_all<<<n / 128, 128>>>(in.p, integers.p, out.p, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    double host[conversions], wanted[conversions];
    const __half h = __ushort_as_half(in[2 * i]);
    const __nv_bfloat16 b = __ushort_as_bfloat16(in[2 * i + 1]);
    convert(h, b, integers[i], host);
    convert_right(h, b, integers[i], wanted);
    for (int k = 0; k < conversions; ++k)
      if (!same(out[i * conversions + k], wanted[k]) || !same(host[k], wanted[k])) {
        char text[200];
        snprintf(text, sizeof text, "conversion %d of %g %g %lld: device %.17g, host %.17g, right %.17g", k, (double)(float)h,
                 (double)(float)b, integers[i], out[i * conversions + k], host[k], wanted[k]);
        report(__FILE__, __LINE__, text);
      }
  }
}

// Functions of the device alone: through float, so one unit of the format at most.
template <class H>
__global__ void functions(double* out, H* sums, typename Format<H>::Pair* pairs) {
  const int t = threadIdx.x;
  const H x = (H)(t * 0.125f + 0.0625f);
  out[t * 8] = (double)(float)htanh(x);
  out[t * 8 + 1] = (double)(float)hsqrt(x);
  out[t * 8 + 2] = (double)(float)hexp(-x);
  out[t * 8 + 3] = (double)(float)hlog(x);
  out[t * 8 + 4] = (double)(float)hrcp(x);
  out[t * 8 + 5] = (double)(float)__shfl_xor_sync(0xffffffffu, x, 1);
  atomicAdd(&sums[t % 2], (H)1.0f);
  atomicAdd(pairs, typename Format<H>::Pair((H)1.0f, (H)2.0f));
}
template <class H>
static void device_functions(double unit) {
  Shared<double> o(256);
  Shared<H> sums(2);
  Shared<typename Format<H>::Pair> pairs(1);
  functions<H><<<1, 32>>>(o.p, sums.p, pairs.p);
  CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < 32; ++t) {
    const double x = t * 0.125 + 0.0625, y = (t ^ 1) * 0.125 + 0.0625;
    const double wanted[] = {tanh(x), sqrt(x), exp(-x), log(x), 1 / x, y};
    for (int k = 0; k < 6; ++k)
      if (!(fabs(o[t * 8 + k] - wanted[k]) <= unit * fabs(wanted[k]) + 1e-6)) EXPECT_EQ_AT(t * 8 + k, o[t * 8 + k], wanted[k]);
  }
  EXPECT_EQ((float)sums[0], 16.0f);
  EXPECT_EQ((float)sums[1], 16.0f);
  EXPECT_EQ((float)pairs[0].x, 32.0f);
  EXPECT_EQ((float)pairs[0].y, 64.0f);
}

int main() {
  arithmetic<__half>("half", 0x3c00, 0x1800);
  arithmetic<__nv_bfloat16>("bfloat16", 0x3f80, 0x380);
  all_conversions();
  device_functions<__half>(1.0 / 1024);
  device_functions<__nv_bfloat16>(1.0 / 128);
  return verdict("half_bf16");
}
