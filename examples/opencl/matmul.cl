// C = A * B for square matrices: one work-item an element of C.
//
//   simtlab run examples/opencl/matmul.cl --gpu gtx480 --global 160x160 --local 16x16 \
//     --arg buffer:160x160:f32:iota --arg buffer:160x160:f32:random --arg buffer:160x160:f32 --arg s32:160
__kernel void mm(__global const float *a, __global const float *b, __global float *c, int n) {
  const int column = get_global_id(0);
  const int row = get_global_id(1);
  float sum = 0.0f;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// The same through tiles in local memory; the two arrays come from the host, TILE x TILE floats each (--arg local:1024).
#ifndef TILE
#define TILE 16
#endif
__kernel void mm_tiled(__global const float *a, __global const float *b, __global float *c, int n, __local float *tile_a,
                       __local float *tile_b) {
  const int x = get_local_id(0), y = get_local_id(1);
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0.0f;
  for (int first = 0; first < n; first += TILE) {
    tile_a[y * TILE + x] = a[row * n + first + x];
    tile_b[y * TILE + x] = b[(first + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++) sum += tile_a[y * TILE + k] * tile_b[k * TILE + x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
