// One step of a 7-point stencil on a box of nx x ny x nz points; the faces stay as they are.
//
//   simtlab run examples/opencl/stencil7.cl --gpu gtx480 --global 128x128x32 --local 16x16x1 \
//     --arg buffer:32x128x128:f32:random --arg buffer:32x128x128:f32 --arg f32:0.5 --arg f32:0.0833
#define AT(x, y, z) (((z) * get_global_size(1) + (y)) * get_global_size(0) + (x))
__kernel void stencil7(__global const float *in, __global float *out, float centre, float neighbour) {
  const size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  const bool face = x == 0 || y == 0 || z == 0 || x == get_global_size(0) - 1 || y == get_global_size(1) - 1 || z == get_global_size(2) - 1;
  if (face) {
    out[AT(x, y, z)] = in[AT(x, y, z)];
    return;
  }
  out[AT(x, y, z)] = centre * in[AT(x, y, z)] + neighbour * (in[AT(x - 1, y, z)] + in[AT(x + 1, y, z)] + in[AT(x, y - 1, z)] +
                                                             in[AT(x, y + 1, z)] + in[AT(x, y, z - 1)] + in[AT(x, y, z + 1)]);
}
