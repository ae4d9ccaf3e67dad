// One of two files whose device code is linked: what it needs is in objects_other.cu.
extern __device__ int total;
extern __constant__ float factors[4];
extern __shared__ float buffer[];
typedef float (*Operation)(float, int);
extern __device__ Operation table[2];
__device__ float scale(float x, int i);
__device__ int deep(int n);
__device__ float exchange(float x);
template <class T> __device__ __noinline__ T twice(T x) { return x + x; }

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

extern "C" __global__ void shapes(float* out, int n) {
  const int i = threadIdx.x;
  Square square;
  Circle circle;
  square.size = 2;
  circle.size = 3;
  Shape* const shape = (n + i) % 2 ? static_cast<Shape*>(&square) : &circle;
  buffer[i] = scale(factors[i % 4], i) + table[(i + n) % 2](i, 3) + shape->area(i) + twice(float(i)) + deep(i % 5);
  __syncthreads();
  out[i] = buffer[i] + buffer[(i + 1) % blockDim.x] + exchange(i);
  atomicAdd(&total, 1);
}

extern "C" __global__ void own_memory(float* out, int n) {
  __shared__ float own[100];
  own[threadIdx.x] = n;
  out[threadIdx.x] = exchange(threadIdx.x) + own[threadIdx.x] + total;
}
