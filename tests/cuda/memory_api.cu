// Allocation, copies and fills of every shape; symbols; pointers' attributes; errors of wrong calls.
#include <cstring>

#include "check.h"

__constant__ float table[16];
__device__ int counter = 5;
__device__ float plane[4][8];

__global__ void increment(int* p, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] += 1;
}
__global__ void rows(float* p, size_t pitch, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float* row = (float*)((char*)p + y * pitch);
    row[x] = row[x] * 2 + y;
  }
}
__global__ void volume(cudaPitchedPtr p, cudaExtent e) {
  for (size_t z = 0; z < e.depth; ++z)
    for (size_t y = 0; y < e.height; ++y) {
      float* row = (float*)((char*)p.ptr + (z * e.height + y) * p.pitch);
      for (size_t x = threadIdx.x; x < e.width / sizeof(float); x += blockDim.x) row[x] += 1000.0f * z + 10.0f * y;
    }
}
struct Node {
  int value;
  Node* next;
};
__global__ void walk(const Node* n, int* sum) {
  int s = 0;
  for (; n; n = n->next) s += n->value;
  *sum = s;
}
__global__ void symbols(float* out) {
  out[threadIdx.x] = table[threadIdx.x] + plane[threadIdx.x / 8][threadIdx.x % 8];
  if (threadIdx.x == 0) counter += 2;
}

static void managed_and_pinned() {
  int* m;
  CUDA(cudaMallocManaged(&m, 1000 * sizeof(int)));
  for (int i = 0; i < 1000; ++i) m[i] = i;
  increment<<<3, 64>>>(m, 1000);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ_AT(i, m[i], i + 1);
  CUDA(cudaMemPrefetchAsync(m, 4000, 0, 0));
  CUDA(cudaMemAdvise(m, 4000, cudaMemAdviseSetReadMostly, 0));
  cudaPointerAttributes a;
  int local = 0;
  CUDA(cudaPointerGetAttributes(&a, m));
  EXPECT_EQ(a.type, cudaMemoryTypeManaged);
  CUDA(cudaPointerGetAttributes(&a, &local));
  EXPECT_EQ(a.type, cudaMemoryTypeUnregistered);

  int *host, *mapped;
  unsigned int flags = 0;
  CUDA(cudaHostAlloc(&host, 400, cudaHostAllocMapped | cudaHostAllocPortable));
  CUDA(cudaHostGetDevicePointer(&mapped, host, 0));
  for (int i = 0; i < 100; ++i) host[i] = i;
  increment<<<1, 32>>>(mapped, 100);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 100; ++i) EXPECT_EQ_AT(i, host[i], i + 1);
  CUDA(cudaPointerGetAttributes(&a, host));
  EXPECT_EQ(a.type, cudaMemoryTypeHost);
  CUDA(cudaHostGetFlags(&flags, host));
  EXPECT(flags & cudaHostAllocMapped);
  CUDA(cudaFreeHost(host));

  Node* nodes;
  CUDA(cudaMallocManaged(&nodes, 10 * sizeof(Node)));
  for (int i = 0; i < 10; ++i) nodes[i] = Node{i, i < 9 ? &nodes[i + 1] : nullptr};
  walk<<<1, 1>>>(nodes, m);
  CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(m[0], 45);
  CUDA(cudaFree(nodes));
  CUDA(cudaFree(m));
}

static void pitched() {
  const int w = 37, h = 21;
  float* p;
  size_t pitch;
  CUDA(cudaMallocPitch(&p, &pitch, w * sizeof(float), h));
  EXPECT(pitch >= w * sizeof(float) && pitch % 32 == 0);
  std::vector<float> a(w * h), b(w * h);
  for (int i = 0; i < w * h; ++i) a[i] = (float)i;
  CUDA(cudaMemcpy2D(p, pitch, a.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  rows<<<dim3(3, 2), dim3(16, 16)>>>(p, pitch, w, h);
  CUDA(cudaMemcpy2D(b.data(), w * 4, p, pitch, w * 4, h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < w * h; ++i) EXPECT_EQ_AT(i, b[i], a[i] * 2 + i / w);
  CUDA(cudaMemset2D(p, pitch, 0x11, 5 * 4, h));
  CUDA(cudaMemcpy2D(b.data(), w * 4, p, pitch, w * 4, h, cudaMemcpyDeviceToHost));
  unsigned int filled = 0;
  memcpy(&filled, &b[4], 4);
  EXPECT_EQ(filled, 0x11111111u);
  EXPECT_EQ(b[5], 10.0f);
  EXPECT_EQ(cudaMemcpy2D(b.data(), w * 4 - 4, p, pitch, w * 4, h, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
  cudaGetLastError();
  CUDA(cudaFree(p));
}

static void volumes() {
  const cudaExtent e = make_cudaExtent(10 * 4, 5, 3);
  cudaPitchedPtr p;
  CUDA(cudaMalloc3D(&p, e));
  CUDA(cudaMemset3D(p, 0x55, e));
  CUDA(cudaMemset3DAsync(p, 0, e));
  std::vector<float> v(150), r(150), box(8);
  for (int i = 0; i < 150; ++i) v[i] = i * 0.5f;
  cudaMemcpy3DParms in = {}, out = {}, part = {};
  in.srcPtr = make_cudaPitchedPtr(v.data(), 40, 10, 5);
  in.dstPtr = p;
  in.extent = e;
  in.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&in));
  volume<<<1, 32>>>(p, e);
  out.dstPtr = make_cudaPitchedPtr(r.data(), 40, 10, 5);
  out.srcPtr = p;
  out.extent = e;
  out.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaMemcpy3D(&out));
  for (int i = 0; i < 150; ++i) EXPECT_EQ_AT(i, r[i], v[i] + 1000 * (i / 50) + 10 * (i / 10 % 5));
  part.dstPtr = make_cudaPitchedPtr(box.data(), 8, 2, 2);
  part.srcPtr = p;
  part.srcPos = make_cudaPos(2 * 4, 1, 1);
  part.extent = make_cudaExtent(8, 2, 2);
  part.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaMemcpy3D(&part));
  EXPECT_EQ(box[0], r[50 + 10 + 2]);
  EXPECT_EQ(box[7], r[100 + 20 + 3]);
  CUDA(cudaFree(p.ptr));
}

static void arrays() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  float in[32], out[32] = {};
  for (int i = 0; i < 32; ++i) in[i] = i * 1.5f;
  CUDA(cudaMallocArray(&array, &format, 8, 4));
  CUDA(cudaMemcpy2DToArrayAsync(array, 0, 0, in, 32, 32, 4, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy2DFromArrayAsync(out, 16, array, 8, 1, 16, 2, cudaMemcpyDeviceToHost));
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 8; ++i) EXPECT_EQ_AT(i, out[i], in[8 + i / 4 * 8 + 2 + i % 4]);
  CUDA(cudaMemcpyToArrayAsync(array, 0, 0, in + 16, 64, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpyFromArrayAsync(out, array, 0, 0, 128, cudaMemcpyDeviceToHost));
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) EXPECT_EQ_AT(i, out[i], in[i < 16 ? i + 16 : i]);
  CUDA(cudaFreeArray(array));
}

static void named_symbols() {
  float t[16], p[32], out[16];
  for (int i = 0; i < 16; ++i) t[i] = i * 0.25f;
  for (int i = 0; i < 32; ++i) p[i] = 100.0f * i;
  float* device;
  size_t size = 0;
  int* address = nullptr;
  int value = 0;
  CUDA(cudaMalloc(&device, sizeof out));
  CUDA(cudaMemcpyToSymbol(table, t, sizeof t));
  CUDA(cudaMemcpyToSymbol(plane, p, sizeof p));
  CUDA(cudaMemcpyToSymbol(table, t, 8, 8));
  symbols<<<1, 16>>>(device);
  CUDA(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 16; ++i) EXPECT_EQ_AT(i, out[i], (i == 2 ? t[0] : i == 3 ? t[1] : t[i]) + p[i]);
  CUDA(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  EXPECT_EQ(value, 7);
  CUDA(cudaGetSymbolSize(&size, plane));
  EXPECT_EQ(size, 128u);
  CUDA(cudaGetSymbolAddress((void**)&address, counter));
  CUDA(cudaMemset(address, 0, 4));
  CUDA(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  EXPECT_EQ(value, 0);
  CUDA(cudaFree(device));
}

static void errors() {
  size_t available = 0, total = 0;
  void* big = nullptr;
  int* p;
  int host[4] = {};
  CUDA(cudaMemGetInfo(&available, &total));
  EXPECT(available <= total && available > 0);
  EXPECT_EQ(cudaMalloc(&big, total * 2), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  const float* read_only;
  CUDA(cudaMalloc(&read_only, 16));
  CUDA(cudaFree(const_cast<float*>(read_only)));
  CUDA(cudaMalloc(&p, 16));
  EXPECT_EQ(cudaMemcpy(p, host, 4, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(p, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA(cudaFree(p));
  CUDA(cudaFree(nullptr));
  EXPECT(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
  EXPECT(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
}

int main() {
  managed_and_pinned();
  pitched();
  volumes();
  arrays();
  named_symbols();
  errors();
  return verdict("memory_api");
}
