// Small kernels that programs launch many times, so that launches and empty caches are most of their time.
//
//   small elimination SIZE THREADS   ten steps of Gaussian elimination of a SIZE x SIZE matrix, two launches a step
//   small distances POINTS THREADS   distances of points to one of them, four launches
//   small paths SIZE THREADS         cheapest paths through a SIZE x SIZE grid, a launch a row
//   small lu SIZE                    LU factors of a SIZE x SIZE matrix by tiles of 16 x 16, three launches a tile
//
// They have the launch shapes and accesses of four programs of Rodinia (gaussian, nn, pathfinder, lud) whose
// cycles were published, summed over the launches that a profiler saw. How many it saw is not stated; these
// are the numbers that the cycles of the smallest sizes say.
#include <algorithm>

#include "board.h"

const char* const kUsage =
    "small elimination SIZE THREADS | small distances POINTS THREADS | small paths SIZE THREADS | small lu SIZE";
constexpr int kSteps = 10, kLaunches = 4, kTile = 16;

__global__ void factors_of_column(float* factors, const float* a, int size, int step) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < size - 1 - step)
    factors[(row + step + 1) * size + step] = a[(row + step + 1) * size + step] / a[step * size + step];
}

__global__ void subtract_row(const float* factors, float* a, float* b, int size, int step) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= size - 1 - step || column >= size - step) return;
  const float factor = factors[(row + 1 + step) * size + step];
  a[(row + 1 + step) * size + column + step] -= factor * a[step * size + column + step];
  if (column == 0) b[row + 1 + step] -= factor * b[step];
}

__global__ void distances_to(const float2* points, float* distances, int count, float x, float y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float2 p = points[i];
  distances[i] = sqrtf((x - p.x) * (x - p.x) + (y - p.y) * (y - p.y));
}

__global__ void next_row(const int* costs, const int* before, int* after, int columns, int row) {
  extern __shared__ int shared[];
  const int first = static_cast<int>(blockIdx.x * (blockDim.x - 2)) - 1;
  const int column = first + static_cast<int>(threadIdx.x);
  const bool there = column >= 0 && column < columns;
  if (there) shared[threadIdx.x] = before[column];
  __syncthreads();
  if (!there || threadIdx.x == 0 || threadIdx.x == blockDim.x - 1) return;
  const int left = column == 0 ? shared[threadIdx.x] : shared[threadIdx.x - 1];
  const int right = column == columns - 1 ? shared[threadIdx.x] : shared[threadIdx.x + 1];
  after[column] = min(min(left, right), shared[threadIdx.x]) + costs[row * columns + column];
}

__global__ void factor_tile(float* a, int size, int at) {
  __shared__ float tile[kTile][kTile];
  const int lane = threadIdx.x;
  for (int i = 0; i < kTile; ++i) tile[i][lane] = a[(at + i) * size + at + lane];
  __syncthreads();
  for (int i = 0; i < kTile - 1; ++i) {
    if (lane > i) {
      for (int j = 0; j < i; ++j) tile[lane][i] -= tile[lane][j] * tile[j][i];
      tile[lane][i] /= tile[i][i];
    }
    __syncthreads();
    if (lane > i)
      for (int j = 0; j < i + 1; ++j) tile[i + 1][lane] -= tile[i + 1][j] * tile[j][lane];
    __syncthreads();
  }
  for (int i = 1; i < kTile; ++i) a[(at + i) * size + at + lane] = tile[i][lane];
}

// Half of the threads have the tiles right of the diagonal one, the others those below it.
__global__ void factor_row_and_column(float* a, int size, int at) {
  __shared__ float diagonal[kTile][kTile], right[kTile][kTile], below[kTile][kTile];
  const int lane = threadIdx.x % kTile, away = at + (blockIdx.x + 1) * kTile;
  const bool of_row = threadIdx.x < kTile;
  for (int i = 0; i < kTile / 2; ++i) {
    const int row = of_row ? i : i + kTile / 2;
    diagonal[row][lane] = a[(at + row) * size + at + lane];
  }
  for (int i = 0; i < kTile; ++i) {
    if (of_row)
      right[i][lane] = a[(at + i) * size + away + lane];
    else
      below[i][lane] = a[(away + i) * size + at + lane];
  }
  __syncthreads();
  if (of_row) {
    for (int i = 1; i < kTile; ++i)
      for (int j = 0; j < i; ++j) right[i][lane] -= diagonal[i][j] * right[j][lane];
  } else {
    for (int i = 0; i < kTile; ++i) {
      for (int j = 0; j < i; ++j) below[lane][i] -= below[lane][j] * diagonal[j][i];
      below[lane][i] /= diagonal[i][i];
    }
  }
  __syncthreads();
  for (int i = 0; i < kTile; ++i) {
    if (of_row)
      a[(at + i) * size + away + lane] = right[i][lane];
    else
      a[(away + i) * size + at + lane] = below[i][lane];
  }
}

__global__ void subtract_product(float* a, int size, int at) {
  __shared__ float row[kTile][kTile], column[kTile][kTile];
  const int y = at + (blockIdx.y + 1) * kTile + threadIdx.y, x = at + (blockIdx.x + 1) * kTile + threadIdx.x;
  row[threadIdx.y][threadIdx.x] = a[(at + threadIdx.y) * size + x];
  column[threadIdx.y][threadIdx.x] = a[y * size + at + threadIdx.x];
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < kTile; ++i) sum += column[threadIdx.y][i] * row[i][threadIdx.x];
  a[y * size + x] -= sum;
}

int over(int count, int parts) { return (count + parts - 1) / parts; }

// A matrix that can be eliminated without exchanging rows.
std::vector<float> matrix(int size) {
  Sequence numbers;
  std::vector<float> a(static_cast<std::size_t>(size) * size);
  for (float& v : a) v = numbers.unit();
  for (int i = 0; i < size; ++i) a[static_cast<std::size_t>(i) * size + i] += static_cast<float>(size);
  return a;
}

bool elimination(int size, int threads) {
  std::vector<float> a = matrix(size), b(static_cast<std::size_t>(size), 1.0f);
  Buffer<float> da(a), db(b), factors(a.size());
  for (int step = 0; step < kSteps; ++step) {
    factors_of_column<<<over(size, threads), threads>>>(factors.data, da.data, size, step);
    subtract_row<<<dim3(size, over(size, threads)), dim3(1, threads)>>>(factors.data, da.data, db.data, size, step);
    for (int i = step + 1; i < size; ++i) {
      const float factor = a[i * size + step] / a[step * size + step];
      for (int j = step; j < size; ++j) a[i * size + j] -= factor * a[step * size + j];
      b[i] -= factor * b[step];
    }
  }
  return close(da.get(), a, 1e-4) && close(db.get(), b, 1e-4);
}

bool distances(int count, int threads) {
  Sequence numbers;
  std::vector<float2> points(static_cast<std::size_t>(count));
  std::vector<float> expected;
  for (float2& p : points) {
    p = {numbers.unit(), numbers.unit()};
    const float x = points[0].x - p.x, y = points[0].y - p.y;
    expected.push_back(std::sqrt(x * x + y * y));
  }
  Buffer<float2> dp(points);
  Buffer<float> dd(expected.size());
  for (int i = 0; i < kLaunches; ++i)
    distances_to<<<over(count, threads), threads>>>(dp.data, dd.data, count, points[0].x, points[0].y);
  return close(dd.get(), expected, 1e-5);
}

bool paths(int size, int threads) {
  Sequence numbers;
  std::vector<int> costs(static_cast<std::size_t>(size) * size);
  for (int& v : costs) v = static_cast<int>(numbers.next() % 10);
  std::vector<int> best(costs.begin(), costs.begin() + size), next(best);
  Buffer<int> dc(costs), a(best), b(best.size());
  int *before = a.data, *after = b.data;
  for (int row = 1; row < size; ++row, std::swap(before, after)) {
    next_row<<<over(size, threads - 2), threads, threads * sizeof(int)>>>(dc.data, before, after, size, row);
    for (int i = 0; i < size; ++i)
      next[i] = std::min({best[std::max(0, i - 1)], best[i], best[std::min(size - 1, i + 1)]}) + costs[row * size + i];
    best = next;
  }
  return close((before == a.data ? a : b).get(), best, 0.0);
}

bool lu(int size) {
  std::vector<float> a = matrix(size);
  Buffer<float> da(a);
  int at = 0;
  for (; at < size - kTile; at += kTile) {
    const int left = (size - at) / kTile - 1;
    factor_tile<<<1, kTile>>>(da.data, size, at);
    factor_row_and_column<<<left, 2 * kTile>>>(da.data, size, at);
    subtract_product<<<dim3(left, left), dim3(kTile, kTile)>>>(da.data, size, at);
  }
  factor_tile<<<1, kTile>>>(da.data, size, at);
  for (int k = 0; k < size; ++k) {
    for (int i = k + 1; i < size; ++i) {
      a[i * size + k] /= a[k * size + k];
      for (int j = k + 1; j < size; ++j) a[i * size + j] -= a[i * size + k] * a[k * size + j];
    }
  }
  return close(da.get(), a, 1e-3);
}

int main(int argc, char** argv) {
  if (argc < 3) wrong_words(kUsage);
  const std::string what = argv[1];
  const bool tiles = what == "lu";
  if (argc != (tiles ? 3 : 4)) wrong_words(kUsage);
  const int size = whole(argv[2], tiles ? kTile : kSteps + 2, 1 << 20, kUsage);
  const int threads = tiles ? 0 : whole(argv[3], 32, 1024, kUsage);
  if (what != "distances" && size > 4096) wrong_words(kUsage);
  if (tiles && size % kTile != 0) wrong_words(kUsage);
  bool pass = false;
  if (what == "elimination")
    pass = elimination(size, threads);
  else if (what == "distances")
    pass = distances(size, threads);
  else if (what == "paths")
    pass = paths(size, threads);
  else if (tiles)
    pass = lu(size);
  else
    wrong_words(kUsage);
  return verdict("small", pass);
}
