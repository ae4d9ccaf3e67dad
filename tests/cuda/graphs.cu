// Graphs: captured from streams that fork and join, made node by node, launched again and again with other parameters.
#include <cstring>

#include "check.h"

__global__ void scale(float* p, int n, float f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] * f + 1;
}
__global__ void add(float* to, const float* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}
static void CUDART_CB on_host(void* p) { *static_cast<int*>(p) += 1; }

int main() {
  const int n = 1024;
  float host[n], back[n], *a, *b;
  CUDA(cudaMalloc(&a, n * sizeof(float)));
  CUDA(cudaMalloc(&b, n * sizeof(float)));
  for (int i = 0; i < n; ++i) host[i] = (float)i;
  cudaStream_t s, t;
  CUDA(cudaStreamCreate(&s));
  CUDA(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t fork, join;
  CUDA(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CUDA(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  int called = 0;

  // Captured: nothing happens meanwhile.
  CUDA(cudaMemset(a, 0, n * sizeof(float)));
  cudaGraph_t graph = 0;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  CUDA(cudaStreamIsCapturing(s, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  CUDA(cudaMemcpyAsync(a, host, n * sizeof(float), cudaMemcpyHostToDevice, s));
  CUDA(cudaEventRecord(fork, s));
  CUDA(cudaStreamWaitEvent(t, fork, 0));
  scale<<<4, 256, 0, s>>>(a, n, 2.0f);
  CUDA(cudaMemsetAsync(b, 0, n * sizeof(float), t));
  scale<<<4, 256, 0, t>>>(b, n, 1.0f);
  CUDA(cudaEventRecord(join, t));
  CUDA(cudaStreamWaitEvent(s, join, 0));
  add<<<4, 256, 0, s>>>(a, b, n);
  CUDA(cudaLaunchHostFunc(s, on_host, &called));
  CUDA(cudaMemcpyAsync(back, a, n * sizeof(float), cudaMemcpyDeviceToHost, s));
  CUDA(cudaStreamIsCapturing(t, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  CUDA(cudaStreamEndCapture(s, &graph));
  EXPECT(graph != 0);
  EXPECT_EQ(called, 0);
  size_t count = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 7u);
  float first = -1;
  CUDA(cudaMemcpy(&first, a + 5, sizeof first, cudaMemcpyDeviceToHost));
  EXPECT_EQ(first, 0.0f);

  cudaGraphExec_t program;
  CUDA(cudaGraphInstantiate(&program, graph, nullptr, nullptr, 0));
  CUDA(cudaGraphDestroy(graph));
  for (int turn = 1; turn <= 3; ++turn) {
    memset(back, 0, sizeof back);
    CUDA(cudaGraphLaunch(program, s));
    CUDA(cudaStreamSynchronize(s));
    EXPECT_EQ(called, turn);
    for (int i = 0; i < n; ++i) EXPECT_EQ_AT(i, back[i], 2.0f * i + 2);
  }
  CUDA(cudaGraphExecDestroy(program));

  // Made by hand: a diamond.
  cudaGraphNode_t in, left, right, both, out, empty;
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, a, host, n * sizeof(float), cudaMemcpyHostToDevice));
  float factor = 3;
  int size = n;
  void* scale_arguments[] = {&a, &size, &factor};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)scale;
  kernel.gridDim = dim3(4);
  kernel.blockDim = dim3(256);
  kernel.kernelParams = scale_arguments;
  CUDA(cudaGraphAddKernelNode(&left, graph, &in, 1, &kernel));
  cudaMemsetParams set = {};
  set.dst = b;
  set.elementSize = 4;
  set.width = n;
  set.height = 1;
  CUDA(cudaGraphAddMemsetNode(&right, graph, nullptr, 0, &set));
  CUDA(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
  CUDA(cudaGraphAddDependencies(graph, &left, &empty, 1));
  CUDA(cudaGraphAddDependencies(graph, &right, &empty, 1));
  void* add_arguments[] = {&a, &b, &size};
  kernel.func = (void*)add;
  kernel.kernelParams = add_arguments;
  CUDA(cudaGraphAddKernelNode(&both, graph, &empty, 1, &kernel));
  CUDA(cudaGraphAddMemcpyNode1D(&out, graph, &both, 1, back, a, n * sizeof(float), cudaMemcpyDeviceToHost));
  cudaGraphNodeType type;
  CUDA(cudaGraphNodeGetType(right, &type));
  EXPECT_EQ(type, cudaGraphNodeTypeMemset);
  CUDA(cudaGraphInstantiate(&program, graph, 0));
  CUDA(cudaGraphLaunch(program, t));
  CUDA(cudaStreamSynchronize(t));
  for (int i = 0; i < n; ++i) EXPECT_EQ_AT(i, back[i], 3.0f * i + 1);
  factor = 5;   // read when the node was made
  CUDA(cudaGraphLaunch(program, t));
  CUDA(cudaStreamSynchronize(t));
  EXPECT_EQ(back[7], 22.0f);
  kernel.func = (void*)scale;
  kernel.kernelParams = scale_arguments;
  CUDA(cudaGraphExecKernelNodeSetParams(program, left, &kernel));
  CUDA(cudaGraphLaunch(program, 0));
  CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(back[7], 36.0f);

  // Used wrongly.
  CUDA(cudaGraphAddDependencies(graph, &out, &in, 1));
  cudaGraphExec_t circle;
  EXPECT_EQ(cudaGraphInstantiate(&circle, graph, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphLaunch(circle, t), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddEmptyNode(&empty, 0, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamEndCapture(s, &graph), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  EXPECT_EQ(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
  CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  CUDA(cudaEventRecord(fork, s));
  CUDA(cudaStreamWaitEvent(t, fork, 0));
  scale<<<4, 256, 0, t>>>(a, n, 2.0f);
  EXPECT_EQ(cudaStreamEndCapture(t, &graph), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT(cudaGetLastError() != cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  CUDA(cudaGraphExecDestroy(program));
  return verdict("graphs");
}
