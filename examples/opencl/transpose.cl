// odata = transpose of idata, width x height. The writes of neighbouring work-items lie `height` elements apart.
//
//   simtlab run examples/opencl/transpose.cl --kernel mt --gpu gtx480 --global 160x160 --local 16x16 \
//     --arg buffer:160x160:f32:iota --arg buffer:160x160:f32 --arg s32:160 --arg s32:160
__kernel void mt(__global const float *idata, __global float *odata, int width, int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x < width && y < height) odata[x * height + y] = idata[y * width + x];
}

// Through a tile in local memory, with a column of padding against bank conflicts: reads and writes are both contiguous.
__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void mt_tiled(__global const float *idata, __global float *odata, int width,
                                                                        int height) {
  __local float tile[16][17];
  const int x = get_local_id(0), y = get_local_id(1);
  const int left = get_group_id(0) * 16, top = get_group_id(1) * 16;
  if (left + x < width && top + y < height) tile[y][x] = idata[(top + y) * width + left + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (left + y < width && top + x < height) odata[(left + y) * height + top + x] = tile[x][y];
}
