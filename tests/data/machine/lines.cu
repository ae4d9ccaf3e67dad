// Two functions and a loop, for tests of source lines.
__device__ __noinline__ float cube(float x) {
  return x * x * x;
}

extern "C" __global__ void lines(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += in[i * 8 % 64] * k;
  out[i] = sum + cube(in[i]);
}
