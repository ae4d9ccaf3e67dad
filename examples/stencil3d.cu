// Seven-point stencil on a cube, several steps: each thread owns a column and keeps its vertical neighbours
// in registers.
#include "example.h"

__global__ void step(int n, const float* in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int plane = n * n;
  int i = y * n + x;
  float below = in[i], here = in[i + plane];
  for (int z = 1; z < n - 1; ++z) {
    i += plane;
    const float above = in[i + plane];
    out[i] = 0.4f * here + 0.1f * (below + above + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
    below = here;
    here = above;
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 48, 3, 512), steps = 4;
  Sequence random;
  std::vector<float> now(n * n * n), next;
  for (float& v : now) v = random.unit();
  Buffer<float> a(now), b(now);
  for (int s = 0; s < steps; ++s) {
    const dim3 block(32, 4), grid((n + 31) / 32, (n + 3) / 4);
    step<<<grid, block>>>(n, s % 2 ? b.data : a.data, s % 2 ? a.data : b.data);
    CHECK(cudaGetLastError());
    next = now;
    for (int z = 1; z < n - 1; ++z)
      for (int y = 1; y < n - 1; ++y)
        for (int x = 1; x < n - 1; ++x) {
          const int i = (z * n + y) * n + x;
          next[i] = 0.4f * now[i] + 0.1f * (now[i - n * n] + now[i + n * n] + now[i - 1] + now[i + 1] +
                                            now[i - n] + now[i + n]);
        }
    now.swap(next);
  }
  return verdict("stencil3d", close(steps % 2 ? b.get() : a.get(), now, 1e-5));
}
