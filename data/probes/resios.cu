// Sources of resios.ptx (which says how it was made): the five kernels of `simtlab validate predict`, written from what table 7.1 of Resios' thesis
// says of them. Sizes, the size of the filter and floating point in mul and madd are ours: the thesis's text does not have them.
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __device__ __attribute__((device))
#define TID_X __nvvm_read_ptx_sreg_tid_x()
#define TID_Y __nvvm_read_ptx_sreg_tid_y()
#define BLOCK_X __nvvm_read_ptx_sreg_ctaid_x()
#define BLOCK_Y __nvvm_read_ptx_sreg_ctaid_y()
#define WIDTH_X __nvvm_read_ptx_sreg_ntid_x()

// 1024 dependent operations, eight a round.
extern "C" __global__ void mul(float* out, float a) {
  float x = (float)TID_X;
  for (int i = 0; i < 128; ++i) {
    x *= a; x *= a; x *= a; x *= a; x *= a; x *= a; x *= a; x *= a;
  }
  out[BLOCK_X * WIDTH_X + TID_X] = x;
}

extern "C" __global__ void madd(float* out, float a, float b) {
  float x = (float)TID_X;
  for (int i = 0; i < 128; ++i) {
    x = x * a + b; x = x * a + b; x = x * a + b; x = x * a + b; x = x * a + b; x = x * a + b; x = x * a + b; x = x * a + b;
  }
  out[BLOCK_X * WIDTH_X + TID_X] = x;
}

extern "C" __global__ void memcpy_kernel(float* out, const float* in) {
  const unsigned i = BLOCK_X * WIDTH_X + TID_X;
  out[i] = in[i];
}

// 32 x 32 threads, an element each: rows are read, columns written.
extern "C" __global__ void transpose(float* out, const float* in, unsigned n) {
  const unsigned x = BLOCK_X * 32 + TID_X, y = BLOCK_Y * 32 + TID_Y;
  out[x * n + y] = in[y * n + x];
}

// 5 x 5 filter over pixels of three bytes; 32 x 32 threads, the filter and the block's part of the image with a margin of two in shared memory. Images of whole
// blocks; pixels beyond the image are those of its edge.
extern "C" __global__ void convolution(unsigned char* out, const unsigned char* in, const float* filter, int n) {
  __shared__ float weight[25];
  __shared__ unsigned char part[36][36][3];
  const int tx = (int)TID_X, ty = (int)TID_Y, bx = (int)BLOCK_X * 32, by = (int)BLOCK_Y * 32;
  const int me = ty * 32 + tx;
  if (me < 25) weight[me] = filter[me];
  for (int i = me; i < 36 * 36; i += 1024) {
    const int px = i % 36, py = i / 36;
    int x = bx + px - 2, y = by + py - 2;
    x = x < 0 ? 0 : x >= n ? n - 1 : x;
    y = y < 0 ? 0 : y >= n ? n - 1 : y;
#pragma unroll 1
    for (int c = 0; c < 3; ++c) part[py][px][c] = in[(y * n + x) * 3 + c];
  }
  __nvvm_bar_sync(0);
#pragma unroll 1
  for (int c = 0; c < 3; ++c) {
    float sum = 0;
#pragma unroll 1
    for (int dy = 0; dy < 5; ++dy)
      for (int dx = 0; dx < 5; ++dx) sum += weight[dy * 5 + dx] * (float)part[ty + dy][tx + dx][c];
    out[((by + ty) * n + bx + tx) * 3 + c] = (unsigned char)sum;
  }
}
