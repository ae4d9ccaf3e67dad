// malloc, free, new and delete in kernels; abstract classes; what one kernel allocates another one uses and frees.
#include <cstdio>

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
  float radius;
  __device__ explicit Disc(float r) : radius(r) {}
  __device__ float area() const override { return 3.0f * radius * radius; }
};

__global__ void make(Shape** shapes) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 2 == 0)
    shapes[i] = new Square(float(i));
  else
    shapes[i] = new Disc(float(i));
}
__global__ void measure(Shape* const* shapes, float* areas) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  areas[i] = shapes[i]->area();
}
__global__ void destroy(Shape** shapes) { delete shapes[blockIdx.x * blockDim.x + threadIdx.x]; }

__global__ void churn(int* sums) {
  int sum = 0;
  for (int round = 1; round <= 20; ++round) {
    int* const p = static_cast<int*>(malloc(round * sizeof(int)));
    for (int k = 0; k < round; ++k) p[k] = k + threadIdx.x;
    for (int k = 0; k < round; ++k) sum += p[k];
    free(p);
  }
  sums[threadIdx.x] = sum;
}
// Pointers go through memory: a compiler may drop an allocation whose address nobody looks at.
__global__ void exhaust(void* volatile* got) {
  got[0] = malloc(8u << 20);  // the whole heap, so nothing may be left of the kernels before
  got[1] = malloc(16);
  free(got[0]);
  free(nullptr);
  got[2] = malloc(0);
}

int main() {
  constexpr int n = 128;
  Shape** shapes;
  float *areas, h[n];
  cudaMalloc(&shapes, n * sizeof(Shape*));
  cudaMalloc(&areas, sizeof h);
  make<<<2, n / 2>>>(shapes);
  measure<<<2, n / 2>>>(shapes, areas);
  destroy<<<2, n / 2>>>(shapes);
  cudaMemcpy(h, areas, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i)
    if (h[i] != (i % 2 ? 3.0f : 1.0f) * i * i) return printf("device_heap: FAIL area of %d is %g\n", i, h[i]), 1;

  int *d, sums[64];
  cudaMalloc(&d, sizeof sums);
  churn<<<1, 64>>>(d);
  cudaMemcpy(sums, d, sizeof sums, cudaMemcpyDeviceToHost);
  for (int t = 0; t < 64; ++t)
    if (sums[t] != 1330 + 210 * t) return printf("device_heap: FAIL thread %d sums %d\n", t, sums[t]), 1;

  void **d_got, *got[3];
  cudaMalloc(&d_got, sizeof got);
  exhaust<<<1, 1>>>(d_got);
  cudaMemcpy(got, d_got, sizeof got, cudaMemcpyDeviceToHost);
  if (got[0] == nullptr || got[1] != nullptr || got[2] != nullptr)
    return printf("device_heap: FAIL exhaustion %p %p %p\n", got[0], got[1], got[2]), 1;
  if (cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20) != cudaErrorInvalidValue)
    return printf("device_heap: FAIL the size of a heap in use changed\n"), 1;
  puts("device_heap: PASS");
  return 0;
}
