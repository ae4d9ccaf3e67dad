// Sums over neighbours: along a line, and over a plane, from tiles in shared memory with a border around.
#include "../example.h"

constexpr int radius = 3, width = 96, side = 8;

__global__ void line(int n, const int* in, int* out) {
  __shared__ int near[width + 2 * radius];
  const int t = threadIdx.x, i = blockIdx.x * width + t;
  near[t + radius] = i < n ? in[i] : 0;
  if (t < radius) {
    near[t] = i >= radius ? in[i - radius] : 0;
    near[t + width + radius] = i + width < n ? in[i + width] : 0;
  }
  __syncthreads();
  int sum = 0;
  for (int d = -radius; d <= radius; ++d) sum += near[t + radius + d];
  if (i < n) out[i] = sum;
}

__global__ void plane(int n, const int* in, int* out) {
  __shared__ int near[side + 2][side + 2];
  const int x = threadIdx.x + 1, y = threadIdx.y + 1;
  const int column = blockIdx.x * side + threadIdx.x, row = blockIdx.y * side + threadIdx.y;
  const int at = row * n + column;
  near[y][x] = at < n * n ? in[at] : 0;
  if (x == 1) near[y][0] = column > 0 ? in[at - 1] : 0;
  if (x == side) near[y][side + 1] = column + 1 < n ? in[at + 1] : 0;
  if (y == 1) near[0][x] = row > 0 ? in[at - n] : 0;
  if (y == side) near[side + 1][x] = row + 1 < n ? in[at + n] : 0;
  __syncthreads();
  out[at] = 4 * near[y][x] - near[y - 1][x] - near[y + 1][x] - near[y][x - 1] - near[y][x + 1];
}

int main() {
  const int m = 1000, n = 32;
  Sequence random;
  std::vector<int> values(n * n), want_line(m), want_plane(n * n), got_line(m), got_plane(n * n);
  for (int& v : values) v = static_cast<int>(random.next() % 100);
  for (int i = 0; i < m; ++i)
    for (int d = -radius; d <= radius; ++d)
      if (i + d >= 0 && i + d < m) want_line[i] += values[i + d];
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const int at = y * n + x;
      want_plane[at] = 4 * values[at] - (y > 0 ? values[at - n] : 0) - (y + 1 < n ? values[at + n] : 0) -
                       (x > 0 ? values[at - 1] : 0) - (x + 1 < n ? values[at + 1] : 0);
    }
  int *in_line, *in_plane, *out_line, *out_plane;
  CHECK(cudaMalloc(&in_line, m * sizeof(int)));
  CHECK(cudaMalloc(&in_plane, n * n * sizeof(int)));
  CHECK(cudaMalloc(&out_line, m * sizeof(int)));
  CHECK(cudaMalloc(&out_plane, n * n * sizeof(int)));
  CHECK(cudaMemcpy(in_line, values.data(), m * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(in_plane, values.data(), n * n * sizeof(int), cudaMemcpyHostToDevice));
  line<<<(m + width - 1) / width, width>>>(m, in_line, out_line);
  plane<<<dim3(n / side, n / side), dim3(side, side)>>>(n, in_plane, out_plane);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got_line.data(), out_line, m * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_plane.data(), out_plane, n * n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in_line));
  CHECK(cudaFree(in_plane));
  CHECK(cudaFree(out_line));
  CHECK(cudaFree(out_plane));
  return verdict("stencil", got_line == want_line && got_plane == want_plane);
}
