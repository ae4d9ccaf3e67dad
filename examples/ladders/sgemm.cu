// C = alpha A B + beta C for square matrices of floats, in ten steps from one thread an element to tiles of
// warps. Each step is a lesson of docs/guide/ladders.md. Sizes are multiples of 128, so that no step
// needs checks at the edges.
//
//   sgemm STEP [SIZE [WARM-UPS]]
#include "ladder.h"

// Step 1: one thread an element. Neighbouring threads have neighbouring rows, so that the loads of A and the
// accesses to C of a warp lie a row apart.
__global__ void sgemm_naive(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

// Step 2: neighbouring threads have neighbouring columns. A warp loads one element of A, 32 neighbours of B.
__global__ void sgemm_coalesced(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  const int row = blockIdx.x * 32 + threadIdx.x / 32;
  const int column = blockIdx.y * 32 + threadIdx.x % 32;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

// Step 3: a block copies tiles of A and B into shared memory and reads them from there 32 times.
__global__ void sgemm_shared(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  __shared__ float left[32][32];
  __shared__ float right[32][32];
  const int y = threadIdx.x / 32, x = threadIdx.x % 32;
  const int row = blockIdx.x * 32 + y, column = blockIdx.y * 32 + x;
  float sum = 0.0f;
  for (int tile = 0; tile < n; tile += 32) {
    left[y][x] = a[row * n + tile + x];
    right[y][x] = b[(tile + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += left[y][k] * right[k][x];
    __syncthreads();
  }
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

// Step 4: eight elements of a column for each thread. An element of B's tile is loaded once for all eight.
__global__ void sgemm_tiles_1d(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  constexpr int kSide = 64, kDepth = 8, kRows = 8;
  __shared__ float left[kSide][kDepth];
  __shared__ float right[kDepth][kSide];
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide * kRows;
  a += blockIdx.y * kSide * n;
  b += blockIdx.x * kSide;
  c += blockIdx.y * kSide * n + blockIdx.x * kSide;
  float sums[kRows] = {};
  for (int tile = 0; tile < n; tile += kDepth, a += kDepth, b += kDepth * n) {
    const int left_y = threadIdx.x / kDepth, left_x = threadIdx.x % kDepth;
    left[left_y][left_x] = a[left_y * n + left_x];
    const int right_y = threadIdx.x / kSide;
    right[right_y][x] = b[right_y * n + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      const float factor = right[k][x];
#pragma unroll
      for (int i = 0; i < kRows; ++i) sums[i] += left[y + i][k] * factor;
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    float& out = c[(y + i) * n + x];
    out = alpha * sums[i] + beta * out;
  }
}

__device__ float4 load4(const float* from) { return *reinterpret_cast<const float4*>(from); }
__device__ void store4(float* to, float4 value) { *reinterpret_cast<float4*>(to) = value; }

// The sums that a thread holds in registers: a rectangle of C.
template <int kRows, int kColumns>
struct Sums {
  float at[kRows][kColumns] = {};

  // Adds a column of A times a row of B.
  __device__ void add(const float (&left)[kRows], const float (&right)[kColumns]) {
#pragma unroll
    for (int y = 0; y < kRows; ++y)
#pragma unroll
      for (int x = 0; x < kColumns; ++x) at[y][x] += left[y] * right[x];
  }

  // To C at its first element there, one element at a time.
  __device__ void store(int n, float alpha, float beta, float* c) const {
#pragma unroll
    for (int y = 0; y < kRows; ++y)
#pragma unroll
      for (int x = 0; x < kColumns; ++x) c[y * n + x] = alpha * at[y][x] + beta * c[y * n + x];
  }

  // The same, four elements at a time.
  __device__ void store_vectors(int n, float alpha, float beta, float* c) const {
#pragma unroll
    for (int y = 0; y < kRows; ++y)
#pragma unroll
      for (int x = 0; x < kColumns; x += 4) {
        float4 out = load4(c + y * n + x);
        out.x = alpha * at[y][x] + beta * out.x;
        out.y = alpha * at[y][x + 1] + beta * out.y;
        out.z = alpha * at[y][x + 2] + beta * out.z;
        out.w = alpha * at[y][x + 3] + beta * out.w;
        store4(c + y * n + x, out);
      }
  }
};

// Step 5: 8 x 8 elements for each thread: 16 elements from shared memory serve 64 multiplications.
__global__ void __launch_bounds__(256)
    sgemm_tiles_2d(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  constexpr int kSide = 128, kDepth = 8, kThreads = 256;
  __shared__ float left[kSide][kDepth];
  __shared__ float right[kDepth][kSide];
  const int x = threadIdx.x % 16 * 8, y = threadIdx.x / 16 * 8;
  a += blockIdx.y * kSide * n;
  b += blockIdx.x * kSide;
  c += blockIdx.y * kSide * n + blockIdx.x * kSide;
  Sums<8, 8> sums;
  for (int tile = 0; tile < n; tile += kDepth, a += kDepth, b += kDepth * n) {
#pragma unroll
    for (int first = 0; first < kSide * kDepth; first += kThreads) {
      const unsigned i = first + threadIdx.x;
      left[i / kDepth][i % kDepth] = a[i / kDepth * n + i % kDepth];
      right[i / kSide][i % kSide] = b[i / kSide * n + i % kSide];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float column[8], row[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) column[i] = left[y + i][k];
#pragma unroll
      for (int i = 0; i < 8; ++i) row[i] = right[k][x + i];
      sums.add(column, row);
    }
    __syncthreads();
  }
  sums.store(n, alpha, beta, c + y * n + x);
}

// Copies a tile of A, four elements at a time, and turns it over: left[k][row]. Then a thread's rows are
// neighbours, and four of them are one load.
template <int kSide, int kDepth, int kThreads>
__device__ void copy_left(int n, const float* a, float (&left)[kDepth][kSide]) {
  constexpr int kPieces = kDepth / 4;  // of a row
#pragma unroll
  for (int first = 0; first < kSide * kPieces; first += kThreads) {
    const unsigned i = first + threadIdx.x, row = i / kPieces, k = i % kPieces * 4;
    const float4 four = load4(a + row * n + k);
    left[k][row] = four.x;
    left[k + 1][row] = four.y;
    left[k + 2][row] = four.z;
    left[k + 3][row] = four.w;
  }
}

// Copies a tile of B as it is, four elements at a time.
template <int kSide, int kDepth, int kThreads>
__device__ void copy_right(int n, const float* b, float (&right)[kDepth][kSide]) {
  constexpr int kPieces = kSide / 4;
#pragma unroll
  for (int first = 0; first < kDepth * kPieces; first += kThreads) {
    const unsigned i = first + threadIdx.x, k = i / kPieces, column = i % kPieces * 4;
    store4(&right[k][column], load4(b + k * n + column));
  }
}

// Loads neighbours in shared memory, four at a time.
template <int kCount>
__device__ void load_vectors(const float* from, float (&to)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const float4 four = load4(from + i);
    to[i] = four.x;
    to[i + 1] = four.y;
    to[i + 2] = four.z;
    to[i + 3] = four.w;
  }
}

// Tiles of kSide x kSide x kDepth, 8 x 8 elements for each of 256 threads, all accesses four elements wide.
template <int kSide, int kDepth>
__device__ void multiply_tiles(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  __shared__ __align__(16) float left[kDepth][kSide];
  __shared__ __align__(16) float right[kDepth][kSide];
  constexpr int kAcross = kSide / 8;
  const int x = threadIdx.x % kAcross * 8, y = threadIdx.x / kAcross * 8;
  a += blockIdx.y * kSide * n;
  b += blockIdx.x * kSide;
  c += blockIdx.y * kSide * n + blockIdx.x * kSide;
  Sums<8, 8> sums;
  for (int tile = 0; tile < n; tile += kDepth, a += kDepth, b += kDepth * n) {
    copy_left<kSide, kDepth, kAcross * kAcross>(n, a, left);
    copy_right<kSide, kDepth, kAcross * kAcross>(n, b, right);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float column[8], row[8];
      load_vectors(&left[k][y], column);
      load_vectors(&right[k][x], row);
      sums.add(column, row);
    }
    __syncthreads();
  }
  sums.store_vectors(n, alpha, beta, c + y * n + x);
}

// Step 6: accesses of 16 bytes, to global and to shared memory.
__global__ void sgemm_vectors(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  multiply_tiles<128, 8>(n, alpha, a, b, beta, c);
}

// Step 7: no bank conflicts where B's tile is read. A thread's eight elements lie 16 words apart, so that the
// threads of a row read neighbouring words; but the loads are four bytes wide again.
__global__ void sgemm_linear(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  constexpr int kSide = 128, kDepth = 8, kThreads = 256;
  __shared__ __align__(16) float left[kDepth][kSide];
  __shared__ float right[kDepth][8][16];
  const int across = threadIdx.x % 16, y = threadIdx.x / 16 * 8;
  a += blockIdx.y * kSide * n;
  b += blockIdx.x * kSide;
  c += blockIdx.y * kSide * n + blockIdx.x * kSide;
  Sums<8, 8> sums;
  for (int tile = 0; tile < n; tile += kDepth, a += kDepth, b += kDepth * n) {
    copy_left<kSide, kDepth, kThreads>(n, a, left);
    const int k = threadIdx.x / 32, x = threadIdx.x % 32 * 4;
    const float4 four = load4(b + k * n + x);
    right[k][x % 8][x / 8] = four.x;
    right[k][x % 8 + 1][x / 8] = four.y;
    right[k][x % 8 + 2][x / 8] = four.z;
    right[k][x % 8 + 3][x / 8] = four.w;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float column[8], row[8];
      load_vectors(&left[k][y], column);
#pragma unroll
      for (int i = 0; i < 8; ++i) row[i] = right[k][i][across];
      sums.add(column, row);
    }
    __syncthreads();
  }
  sums.store_vectors(n, alpha, beta, c + y * n + across * 8);
}

// Step 8: B's tile as it is, with five words of padding after each row. They are meant against bank
// conflicts; and they narrow the loads, for most rows are no longer aligned.
__global__ void sgemm_padded(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  constexpr int kSide = 128, kDepth = 8, kThreads = 256, kPadding = 5;
  __shared__ __align__(16) float left[kDepth][kSide];
  __shared__ float right[kDepth][kSide + kPadding];
  const int x = threadIdx.x % 16 * 8, y = threadIdx.x / 16 * 8;
  a += blockIdx.y * kSide * n;
  b += blockIdx.x * kSide;
  c += blockIdx.y * kSide * n + blockIdx.x * kSide;
  Sums<8, 8> sums;
  for (int tile = 0; tile < n; tile += kDepth, a += kDepth, b += kDepth * n) {
    copy_left<kSide, kDepth, kThreads>(n, a, left);
    float* to = &right[threadIdx.x / 32][threadIdx.x % 32 * 4];
    const float4 four = load4(b + threadIdx.x / 32 * n + threadIdx.x % 32 * 4);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float column[8], row[8];
      load_vectors(&left[k][y], column);
#pragma unroll
      for (int i = 0; i < 8; ++i) row[i] = right[k][x + i];
      sums.add(column, row);
    }
    __syncthreads();
  }
  sums.store_vectors(n, alpha, beta, c + y * n + x);
}

// Step 9: the tile that was found best on an RTX A6000: twice as deep as in step 6, so half the barriers.
__global__ void __launch_bounds__(256)
    sgemm_tuned(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  multiply_tiles<128, 16>(n, alpha, a, b, beta, c);
}

// Step 10: one more level. A warp has 64 x 64 elements of the block's 128 x 128, in four strips of 64 x 16; a
// thread has 8 x 4 of each strip. Lanes that lie together read the same words of shared memory. Three blocks
// shall fit an SM; with all 16 turns of the inner loop unrolled nvcc finds no room for that in the registers.
__global__ void __launch_bounds__(128, 3)
    sgemm_warps(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  constexpr int kSide = 128, kDepth = 16, kThreads = 128;
  constexpr int kWarpSide = 64, kStrips = 4, kStrip = kWarpSide / kStrips;
  __shared__ __align__(16) float left[kDepth][kSide];
  __shared__ __align__(16) float right[kDepth][kSide];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int y = warp / 2 * kWarpSide + lane / 4 * 8, x = warp % 2 * kWarpSide + lane % 4 * 4;
  a += blockIdx.y * kSide * n;
  b += blockIdx.x * kSide;
  c += blockIdx.y * kSide * n + blockIdx.x * kSide;
  Sums<8, 4> sums[kStrips];
  for (int tile = 0; tile < n; tile += kDepth, a += kDepth, b += kDepth * n) {
    copy_left<kSide, kDepth, kThreads>(n, a, left);
    copy_right<kSide, kDepth, kThreads>(n, b, right);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < kDepth; ++k) {
      float column[8];
      load_vectors(&left[k][y], column);
#pragma unroll
      for (int i = 0; i < kStrips; ++i) {
        float row[4];
        load_vectors(&right[k][x + i * kStrip], row);
        sums[i].add(column, row);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kStrips; ++i) sums[i].store_vectors(n, alpha, beta, c + y * n + x + i * kStrip);
}

struct Step {
  const char* name;
  void (*kernel)(int, float, const float*, const float*, float, float*);
  int side;  // of a block's tile of C
  dim3 block;
};

const Step kSteps[] = {
    {"sgemm_naive", sgemm_naive, 32, dim3(32, 32)},     {"sgemm_coalesced", sgemm_coalesced, 32, dim3(1024)},
    {"sgemm_shared", sgemm_shared, 32, dim3(1024)},     {"sgemm_tiles_1d", sgemm_tiles_1d, 64, dim3(512)},
    {"sgemm_tiles_2d", sgemm_tiles_2d, 128, dim3(256)}, {"sgemm_vectors", sgemm_vectors, 128, dim3(256)},
    {"sgemm_linear", sgemm_linear, 128, dim3(256)},     {"sgemm_padded", sgemm_padded, 128, dim3(256)},
    {"sgemm_tuned", sgemm_tuned, 128, dim3(256)},       {"sgemm_warps", sgemm_warps, 128, dim3(128)},
};

// Whole numbers so small that every sum is exact in any order.
std::vector<float> small_numbers(int n, Sequence& random) {
  std::vector<float> out(static_cast<std::size_t>(n) * n);
  for (float& value : out) value = static_cast<float>(random.next() % 5) - 2.0f;
  return out;
}

// Matrix times vector, in whole numbers. scale: 2 for a matrix that has halves.
std::vector<long long> times(const std::vector<float>& matrix, const std::vector<long long>& vector,
                             float scale) {
  const std::size_t n = vector.size();
  std::vector<long long> out(n);
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t x = 0; x < n; ++x)
      out[y] += static_cast<long long>(scale * matrix[y * n + x]) * vector[x];
  return out;
}

// Freivalds' check of C = A B / 2 + 3 C0 in whole numbers: 2 C v = A (B v) + 6 C0 v for a random vector v
// without zeros. One wrong element of a row always shows; n * n work instead of n * n * n serves every size.
bool right_product(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c0,
                   const std::vector<float>& c, int n, Sequence& random) {
  std::vector<long long> v(n);
  for (long long& value : v) value = 1 + random.next() % (1 << 20);
  const std::vector<long long> got = times(c, v, 2.0f), product = times(a, times(b, v, 1.0f), 1.0f),
                               before = times(c0, v, 1.0f);
  for (int y = 0; y < n; ++y)
    if (got[y] != product[y] + 6 * before[y]) {
      std::printf("row %d of C is wrong\n", y);
      return false;
    }
  return true;
}

int main(int argc, char** argv) {
  const Ladder ladder{"sgemm", 1, 10, 256, 128, 8192};
  const Arguments arguments = ladder_arguments(argc, argv, ladder);
  const Step& step = kSteps[arguments.step - 1];
  const int n = arguments.size;
  Sequence random;
  const std::vector<float> a = small_numbers(n, random), b = small_numbers(n, random),
                           c = small_numbers(n, random);
  Buffer<float> da(a), db(b), dc(c);
  const auto launch = [&] {
    step.kernel<<<dim3(n / step.side, n / step.side), step.block>>>(n, 0.5f, da.data, db.data, 3.0f, dc.data);
  };
  for (int i = 0; i < arguments.warm_ups; ++i) launch();
  if (arguments.warm_ups > 0) dc.put(c);  // each launch adds to C
  const float time = milliseconds_of(launch);
  print_rate(ladder, arguments, step.name, time, 2.0 * n * n * n, "GFLOPS");
  return verdict(step.name, right_product(a, b, c, dc.get(), n, random));
}
