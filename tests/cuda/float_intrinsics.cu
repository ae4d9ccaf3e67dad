// Arithmetic with a direction of rounding, conversions and reinterpretations, against the host in the same rounding mode.
#include <cfenv>
#include <climits>
#include <cmath>
#include <cstring>

#include "check.h"

const int functions = 52;

__global__ void compute(const float* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[3 * i], y = in[3 * i + 1], z = in[3 * i + 2];
  const double dx = x, dy = y / 3.0, dz = z;
  double* o = out + i * functions;
  int k = 0;
#define MODE(m)                       \
  o[k++] = __fadd_##m(x, y);          \
  o[k++] = __fsub_##m(x, y);          \
  o[k++] = __fmul_##m(x, y);          \
  o[k++] = __fmaf_##m(x, y, z);       \
  o[k++] = __fdiv_##m(x, y);          \
  o[k++] = __fsqrt_##m(fabsf(x));     \
  o[k++] = __dadd_##m(dx, dy);        \
  o[k++] = __dmul_##m(dx, dy);        \
  o[k++] = __fma_##m(dx, dy, dz);     \
  o[k++] = __ddiv_##m(dx, dy);
  MODE(rn) MODE(rz) MODE(ru) MODE(rd)
#undef MODE
  o[k++] = __float2int_rz(x * 1e3f);
  o[k++] = __float2int_rn(x * 1e3f);
  o[k++] = __float2int_ru(x * 1e3f);
  o[k++] = __float2int_rd(x * 1e3f);
  o[k++] = __float2uint_rz(x * 1e3f);
  o[k++] = (int)(x * 1e12f);
  o[k++] = (double)__float2ll_rn(x * 1e10f);
  o[k++] = __double2int_rn(dy * 1e4);
  o[k++] = __int2float_rz(__float_as_int(x));
  o[k++] = __uint2float_ru(__float_as_uint(x));
  o[k++] = __hiloint2double(__double2hiint(dy), __double2loint(dy));
  o[k++] = __saturatef(x);
}

static void define(float fx, float fy, float fz, double* o) {
  // volatile: the compiler must not move operations across the changes of the rounding mode.
  volatile float x = fx, y = fy, z = fz, ax = fabsf(fx);
  volatile double dx = fx, dy = fy / 3.0, dz = fz;
  const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  int k = 0;
  for (int mode : modes) {
    fesetround(mode);
    volatile float f[6];
    volatile double d[4];
    f[0] = x + y;
    f[1] = x - y;
    f[2] = x * y;
    f[3] = fmaf(x, y, z);
    f[4] = x / y;
    f[5] = sqrtf(ax);
    d[0] = dx + dy;
    d[1] = dx * dy;
    d[2] = fma(dx, dy, dz);
    d[3] = dx / dy;
    fesetround(FE_TONEAREST);
    for (int i = 0; i < 6; ++i) o[k++] = f[i];
    for (int i = 0; i < 4; ++i) o[k++] = d[i];
  }
  const float thousand = fx * 1e3f, large = fx * 1e12f;
  int bits;
  memcpy(&bits, &fx, 4);
  o[k++] = truncf(thousand);
  o[k++] = nearbyintf(thousand);
  o[k++] = ceilf(thousand);
  o[k++] = floorf(thousand);
  o[k++] = thousand < 0 ? 0 : truncf(thousand);
  o[k++] = large >= 2147483648.0f ? INT_MAX : large <= -2147483648.0f ? INT_MIN : (int)large;
  o[k++] = nearbyintf(fx * 1e10f);
  o[k++] = nearbyint(fy / 3.0 * 1e4);
  volatile int signed_bits = bits;
  volatile unsigned int plain_bits = (unsigned int)bits;
  fesetround(FE_TOWARDZERO);
  volatile float cut = (float)signed_bits;
  fesetround(FE_UPWARD);
  volatile float raised = (float)plain_bits;
  fesetround(FE_TONEAREST);
  o[k++] = cut;
  o[k++] = raised;
  o[k++] = fy / 3.0;
  o[k++] = fx < 0 ? 0 : fx > 1 ? 1 : fx;
}

int main() {
  const int n = 1024;
  Shared<float> in(3 * n);
  Shared<double> out(n * functions);
  unsigned int seed = 5;
  for (int i = 0; i < 3 * n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    in[i] = (float)(int)(seed ^ seed >> 15) * 1e-8f + 0.001f;
  }
  compute<<<n / 128, 128>>>(in.p, out.p, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    double wanted[functions];
    define(in[3 * i], in[3 * i + 1], in[3 * i + 2], wanted);
    for (int k = 0; k < functions; ++k)
      if (out[i * functions + k] != wanted[k]) {
        char text[160];
        snprintf(text, sizeof text, "function %d of %a %a %a: %a, not %a", k, in[3 * i], in[3 * i + 1], in[3 * i + 2],
                 out[i * functions + k], wanted[k]);
        report(__FILE__, __LINE__, text);
      }
  }
  return verdict("float_intrinsics");
}
