// The three kernels of `simtlab validate cache`, as a user writes them: nothing in them is set for a compiler.
kernel void transpose(global const float* idata, global float* odata, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height) odata[x * height + y] = idata[y * width + x];
}
kernel void matmul(global const float* a, global const float* b, global float* c, int n) {
  const int col = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}
kernel void stencil(global const float* in, global float* out, int nx, int ny, int nz, float c0, float c1) {
  const int x = get_global_id(0) + 1, y = get_global_id(1) + 1, z = get_global_id(2) + 1;
  if (x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  const int at = (z * ny + y) * nx + x;
  out[at] = c1 * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - nx * ny] + in[at + nx * ny]) - c0 * in[at];
}
