// Tables whose cells need those to the left and above: by diagonals in a block, and by flags between blocks.
#include "../example.h"

constexpr int side = 48;

// The distance of two words: three diagonals in shared memory.
__global__ void distance(const char* a, const char* b, int* out) {
  __shared__ int diagonal[3][side + 1];
  __shared__ char word[side];
  const int t = threadIdx.x;
  if (t < side) word[t] = b[blockIdx.x * side + t];
  __syncthreads();
  for (int d = 0; d <= 2 * side; ++d) {
    int* const now = diagonal[d % 3];
    const int *const last = diagonal[(d + 2) % 3], *const older = diagonal[(d + 1) % 3];
    const int x = d - t;
    if (t <= side && x >= 0 && x <= side) {
      int least = t == 0 ? x : x == 0 ? t : 1000;
      if (t > 0 && x > 0) {
        const int same = older[t - 1] + (a[t - 1] == word[x - 1] ? 0 : 1);
        const int gap = 1 + (last[t] < last[t - 1] ? last[t] : last[t - 1]);
        least = same < gap ? same : gap;
      }
      now[t] = least;
    }
    __syncthreads();
  }
  if (t == side) out[blockIdx.x] = diagonal[2 * side % 3][side];
}

// Sums over the rectangle up to each cell. A block has a row of tiles and follows the block above it.
__global__ void rectangles(int columns, const int* in, int* out, unsigned* done) {
  __shared__ int row[32];
  const int t = threadIdx.x, y = blockIdx.x;
  int left = 0;
  for (int at = 0; at < columns; at += 32) {
    row[t] = in[y * columns + at + t];
    __syncthreads();
    int sum = left;
    for (int k = 0; k <= t; ++k) sum += row[k];
    int all = 0;
    for (int k = 0; k < 32; ++k) all += row[k];
    left += all;
    if (y > 0) {
      if (t == 0)
        while (atomicAdd(&done[y - 1], 0u) * 32 <= static_cast<unsigned>(at)) {
        }
      __syncthreads();
      __threadfence();
      sum += out[(y - 1) * columns + at + t];
    }
    out[y * columns + at + t] = sum;
    __threadfence();
    __syncthreads();
    if (t == 0) atomicAdd(&done[y], 1u);
  }
}

int main() {
  const int words = 5, rows = 6, columns = 128;
  std::vector<char> a(side), b(words * side);
  std::vector<int> values(rows * columns), want(rows * columns), want_distance(words), got(rows * columns),
      got_distance(words);
  for (int i = 0; i < side; ++i) a[i] = static_cast<char>('a' + i * 7 % 5);
  for (int i = 0; i < words * side; ++i) b[i] = static_cast<char>('a' + i * 11 % 6);
  for (int i = 0; i < rows * columns; ++i) values[i] = i * 3 % 7;
  for (int y = 0; y < rows; ++y)
    for (int x = 0, sum = 0; x < columns; ++x) {
      sum += values[y * columns + x];
      want[y * columns + x] = sum + (y > 0 ? want[(y - 1) * columns + x] : 0);
    }
  for (int w = 0; w < words; ++w) {
    std::vector<int> last(side + 1), now(side + 1);
    for (int x = 0; x <= side; ++x) last[x] = x;
    for (int y = 1; y <= side; ++y) {
      now[0] = y;
      for (int x = 1; x <= side; ++x) {
        const int same = last[x - 1] + (a[x - 1] == b[w * side + y - 1] ? 0 : 1);
        const int gap = 1 + (last[x] < now[x - 1] ? last[x] : now[x - 1]);
        now[x] = same < gap ? same : gap;
      }
      last = now;
    }
    want_distance[w] = last[side];
  }
  char *da, *db;
  int *in, *out, *distances;
  unsigned* done;
  CHECK(cudaMalloc(&da, side * sizeof(char)));
  CHECK(cudaMalloc(&db, words * side * sizeof(char)));
  CHECK(cudaMalloc(&in, rows * columns * sizeof(int)));
  CHECK(cudaMalloc(&out, rows * columns * sizeof(int)));
  CHECK(cudaMalloc(&distances, words * sizeof(int)));
  CHECK(cudaMalloc(&done, rows * sizeof(unsigned)));
  CHECK(cudaMemcpy(da, a.data(), side * sizeof(char), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), words * side * sizeof(char), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(in, values.data(), rows * columns * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(done, 0, rows * sizeof(unsigned)));
  distance<<<words, 64>>>(da, db, distances);
  rectangles<<<rows, 32>>>(columns, in, out, done);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, rows * columns * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_distance.data(), distances, words * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(distances));
  CHECK(cudaFree(done));
  return verdict("wavefront", got == want && got_distance == want_distance);
}
