// Changing a whole graph after it was made ready.
__global__ void k() {}
int main() {
  cudaStream_t s;
  cudaGraph_t graph;
  cudaGraphExec_t program;
  cudaGraphExecUpdateResultInfo info;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  k<<<1, 1, 0, s>>>();
  cudaStreamEndCapture(s, &graph);
  cudaGraphInstantiate(&program, graph, nullptr, nullptr, 0);
  if (cudaGraphExecUpdate(program, graph, &info) == cudaErrorNotSupported) return 0;
  cudaGraphLaunch(program, s);
}
