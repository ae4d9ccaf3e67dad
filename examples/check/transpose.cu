// A transposition by tiles, one within a warp's tile, and one in place.
#include "../example.h"

constexpr int tile = 16;

__global__ void transpose(int width, int height, const int* in, int* out) {
  __shared__ int part[tile][tile + 1];
  const int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  const int u = blockIdx.y * tile + threadIdx.x, v = blockIdx.x * tile + threadIdx.y;
  if (x < width && y < height) part[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  if (u < height && v < width) out[v * height + u] = part[threadIdx.x][threadIdx.y];
}

// Pairs of tiles change places.
__global__ void in_place(int n, int* data) {
  __shared__ int a[tile][tile + 1];
  __shared__ int b[tile][tile + 1];
  const int x = threadIdx.x, y = threadIdx.y;
  if (blockIdx.x < blockIdx.y) return;
  int* const upper = data + blockIdx.y * tile * n + blockIdx.x * tile;
  int* const lower = data + blockIdx.x * tile * n + blockIdx.y * tile;
  a[y][x] = upper[y * n + x];
  b[y][x] = lower[y * n + x];
  __syncthreads();
  upper[y * n + x] = b[x][y];
  if (blockIdx.x > blockIdx.y) lower[y * n + x] = a[x][y];
}

__global__ void by_warps(int n, const int* in, int* out) {
  __shared__ int mine[2][8][9];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int at = (blockIdx.x * 2 + warp) * 64;
  for (int k = lane; k < 64; k += 32)
    if (at + k < n) mine[warp][k / 8][k % 8] = in[at + k];
  __syncwarp();
  for (int k = lane; k < 64; k += 32)
    if (at + k < n) out[at + k] = mine[warp][k % 8][k / 8];
}

int main() {
  const int width = 53, height = 38, n = 48, tiles = 10;
  std::vector<int> values(n * n), want(width * height), got(width * height), got_place(n * n),
      got_warps(tiles * 64);
  for (int i = 0; i < n * n; ++i) values[i] = i * 7 % 1000;
  bool pass = true;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) want[x * height + y] = values[y * width + x];
  int *in, *out, *place, *warps;
  CHECK(cudaMalloc(&in, width * height * sizeof(int)));
  CHECK(cudaMalloc(&out, width * height * sizeof(int)));
  CHECK(cudaMalloc(&place, n * n * sizeof(int)));
  CHECK(cudaMalloc(&warps, tiles * 64 * sizeof(int)));
  CHECK(cudaMemcpy(in, values.data(), width * height * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(place, values.data(), n * n * sizeof(int), cudaMemcpyHostToDevice));
  transpose<<<dim3(4, 3), dim3(tile, tile)>>>(width, height, in, out);
  in_place<<<dim3(3, 3), dim3(tile, tile)>>>(n, place);
  by_warps<<<tiles / 2, 64>>>(tiles * 64, in, warps);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, width * height * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_place.data(), place, n * n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_warps.data(), warps, tiles * 64 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n * n; ++i) pass = pass && got_place[i] == values[i % n * n + i / n];
  for (int i = 0; i < tiles * 64; ++i)
    pass = pass && got_warps[i] == values[i / 64 * 64 + i % 8 * 8 + i % 64 / 8];
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(place));
  CHECK(cudaFree(warps));
  return verdict("transpose", pass && got == want);
}
