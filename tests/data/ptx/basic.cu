// Source of basic_clang.ptx and basic_nvcc.ptx (see README.md).
#define GLOBAL extern "C" __attribute__((global))
#ifdef __clang__
#define SHARED __attribute__((shared))
#define SYNC() __nvvm_bar_sync(0)
#define TID __nvvm_read_ptx_sreg_tid_x()
#define CTA __nvvm_read_ptx_sreg_ctaid_x()
#define NTID __nvvm_read_ptx_sreg_ntid_x()
#define TIDY __nvvm_read_ptx_sreg_tid_y()
#define CTAY __nvvm_read_ptx_sreg_ctaid_y()
#define SHFL(v, d) __nvvm_shfl_sync_down_f32(0xffffffffu, v, d, 31)
#else
#define SHARED __shared__
#define SYNC() __syncthreads()
#define TID threadIdx.x
#define CTA blockIdx.x
#define NTID blockDim.x
#define TIDY threadIdx.y
#define CTAY blockIdx.y
#define SHFL(v, d) __shfl_down_sync(0xffffffffu, v, d)
#endif

GLOBAL void saxpy(int n, float a, const float* x, float* y) {
  int i = CTA * NTID + TID;
  if (i < n) y[i] = a * x[i] + y[i];
}

GLOBAL void matmul(const float* a, const float* b, float* c, int n) {
  SHARED static float ta[16][16], tb[16][16];
  int x = CTA * 16 + TID, y = CTAY * 16 + TIDY;
  float sum = 0;
  for (int t = 0; t < n / 16; ++t) {
    ta[TIDY][TID] = a[y * n + t * 16 + TID];
    tb[TIDY][TID] = b[(t * 16 + TIDY) * n + x];
    SYNC();
    for (int k = 0; k < 16; ++k) sum += ta[TIDY][k] * tb[k][TID];
    SYNC();
  }
  c[y * n + x] = sum;
}

GLOBAL void reduce(const float* in, float* out, int n) {
  SHARED static float partial[32];
  float v = 0;
  for (int i = CTA * NTID + TID; i < n; i += NTID * 64) v += in[i];
  for (int d = 16; d > 0; d >>= 1) v += SHFL(v, d);
  if ((TID & 31) == 0) partial[TID / 32] = v;
  SYNC();
  if (TID < 32) {
    v = TID < NTID / 32 ? partial[TID] : 0.0f;
    for (int d = 16; d > 0; d >>= 1) v += SHFL(v, d);
    if (TID == 0) out[CTA] = v;
  }
}
