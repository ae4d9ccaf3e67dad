// Kernels that bench_machine runs as PTX and as machine code:
//   nvcc -arch=compute_80 -ptx machine.cu -o machine.ptx && ptxas -arch=sm_80 machine.ptx -o machine.sm_80.cubin
extern "C" __global__ void stencil(const double* in, double* out, int nx, int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (i >= nx - 1 || j >= ny - 1) return;
  for (int k = 1; k < nz - 1; ++k) {
    long c = ((long)k * ny + j) * nx + i;
    double s = in[c] * 0.4 + 0.1 * (in[c - 1] + in[c + 1] + in[c - nx] + in[c + nx] + in[c - (long)nx * ny] + in[c + (long)nx * ny]);
    out[c] = s * s - 0.25 * s + 1.0 / 3.0;
  }
}
extern "C" __global__ void dchain(const double* in, double* out, int n) {
  double x = in[threadIdx.x], y = 0.5, z = 0.25;
  for (int i = 0; i < n; ++i) { y = y * x + z; z = z * x - y; y = y * 0.25 + x; z = -z * 0.125 + y; }
  out[threadIdx.x] = y + z;
}
extern "C" __global__ void nbody(const float4* p, float4* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = p[i]; float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) { float4 o = p[j]; float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z; float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-4f); float s = o.w * r * r * r; ax += s * dx; ay += s * dy; az += s * dz; }
  a[i] = make_float4(ax, ay, az, 0);
}
extern "C" __global__ void histogram(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x & 255] = 0; __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i] & 255], 1u);
  __syncthreads(); atomicAdd(&out[threadIdx.x & 255], bins[threadIdx.x & 255]);
}
extern "C" __global__ void hash(const unsigned* in, unsigned* out, int n) {
  unsigned x = in[threadIdx.x];
  for (int i = 0; i < n; ++i) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; x = x * 1664525u + 1013904223u; }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x; float s = 0;
  for (int k = 0; k < n; ++k) s += a[row * n + k] * b[k * n + col];
  c[row * n + col] = s;
}
