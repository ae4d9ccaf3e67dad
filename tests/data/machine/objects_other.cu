// What objects_main.cu needs.
__device__ int total = 5;
__constant__ float factors[4] = {1, 2, 3, 4};
template <class T> __device__ __noinline__ T twice(T x) { return x + x; }
__device__ float scale(float x, int i) { return x * factors[i % 4] + twice(x); }
__device__ float third(float x, int i) { return x * 3 + i; }
typedef float (*Operation)(float, int);
__device__ Operation table[2] = {scale, third};

struct Shape {
  float size;
  __device__ virtual float area(float x) = 0;
};
struct Square : Shape {
  __device__ float area(float x) override;
};
struct Circle : Shape {
  __device__ float area(float x) override;
};
__device__ float Square::area(float x) { return size * size + x; }
__device__ float Circle::area(float x) { return 3 * size * size - x; }
__device__ int deep(int n) { return n <= 0 ? 1 : deep(n - 1) + n * deep(n - 2); }
__device__ float exchange(float x) {
  __shared__ float all[64];
  all[threadIdx.x] = x;
  __syncthreads();
  return all[threadIdx.x ^ 1];
}
