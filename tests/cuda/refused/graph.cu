// Recording a graph.
__global__ void k() {}
int main() {
  cudaStream_t s;
  cudaGraph_t graph;
  cudaGraphExec_t program;
  cudaGraphNode_t node;
  cudaKernelNodeParams parameters = {};
  cudaStreamCreate(&s);
  if (cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaErrorNotSupported) return 0;
  k<<<1, 1, 0, s>>>();
  cudaStreamEndCapture(s, &graph);
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters);
  cudaGraphInstantiate(&program, graph, nullptr, nullptr, 0);
  cudaGraphLaunch(program, s);
}
