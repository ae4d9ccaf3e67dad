// Goes on calling the runtime after the GPU that it shares has gone. Prints NAME=CODE of each call; files "ready" and "go" are the signs to and from the test.
#include <cstdio>
#include <cuda_profiler_api.h>
#include <fcntl.h>
#include <unistd.h>

__device__ int symbol;
__global__ void add(volatile int* x, int rounds) {
  for (int i = 0; i < rounds; ++i) x[blockIdx.x * blockDim.x + threadIdx.x] += i;
}

static void told(const char* name, cudaError_t code) { printf("%s=%d\n", name, static_cast<int>(code)); }
#define TELL(call) told(#call, call)

int main(int argc, char** argv) {
  const bool busy = argc > 1 && argv[1][0] == 'b';   // a kernel runs when it goes
  int *d, *other, host[256] = {}, n = 0;
  void* p = nullptr;
  float ms = 0;
  size_t free_bytes, total;
  cudaStream_t stream, s2;
  cudaEvent_t first, second, e2;
  cudaGraph_t graph;
  cudaGraphExec_t program;
  cudaDeviceProp properties;
  cudaFuncAttributes attributes;
  cudaPointerAttributes pointer;
  cudaMalloc(&d, 96 * 256 * sizeof(int));
  cudaStreamCreate(&stream);
  cudaEventCreate(&first);
  cudaEventCreate(&second);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 32, 0, stream>>>(d, 1);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&program, graph, 0);
  add<<<96, 256>>>(d, 4);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  if (busy) add<<<1, 32>>>(d, 1500000);
  close(open("ready", O_CREAT | O_WRONLY, 0600));
  while (!busy && access("go", F_OK) != 0) usleep(1000);

  TELL(cudaDeviceSynchronize());
  TELL(cudaGetLastError());
  TELL(cudaPeekAtLastError());
  add<<<1, 32>>>(d, 1);
  TELL(cudaGetLastError());
  TELL(cudaMalloc(&other, 64));
  TELL(cudaMallocManaged(&p, 64));
  TELL(cudaMallocHost(&p, 64));
  TELL(cudaHostAlloc(&p, 64, 0));
  TELL(cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost));
  TELL(cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice));
  TELL(cudaMemcpyAsync(d, host, sizeof host, cudaMemcpyHostToDevice, stream));
  TELL(cudaMemcpyToSymbol(symbol, host, sizeof(int)));
  TELL(cudaMemset(d, 0, 64));
  TELL(cudaStreamCreate(&s2));
  TELL(cudaStreamSynchronize(stream));
  TELL(cudaStreamQuery(stream));
  TELL(cudaStreamWaitEvent(stream, first, 0));
  TELL(cudaEventCreate(&e2));
  TELL(cudaEventRecord(first, stream));
  TELL(cudaEventQuery(first));
  TELL(cudaEventSynchronize(first));
  TELL(cudaEventElapsedTime(&ms, first, second));
  TELL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  TELL(cudaGraphLaunch(program, stream));
  TELL(cudaGetDevice(&n));
  TELL(cudaGetDeviceCount(&n));
  TELL(cudaSetDevice(0));
  TELL(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0));
  TELL(cudaGetDeviceProperties(&properties, 0));
  TELL(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  TELL(cudaDeviceSetLimit(cudaLimitStackSize, 1024));
  TELL(cudaMemGetInfo(&free_bytes, &total));
  TELL(cudaFuncGetAttributes(&attributes, add));
  TELL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, add, 256, 0));
  TELL(cudaPointerGetAttributes(&pointer, d));
  TELL(cudaEventDestroy(first));
  TELL(cudaStreamDestroy(stream));
  TELL(cudaFree(d));
  TELL(cudaProfilerStop());
  TELL(cudaDeviceReset());
  TELL(cudaDeviceSynchronize());
  TELL(cudaMalloc(&other, 64));
  return 0;
}
