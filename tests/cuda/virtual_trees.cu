// Virtual functions of objects that hold objects: calls through pointers that lead back to the same function.
#include <cstdio>

struct Node {
  __device__ virtual int sum(int depth) const = 0;
};
struct Leaf : Node {
  int value;
  __device__ explicit Leaf(int v) : value(v) {}
  __device__ int sum(int) const override { return value; }
};
struct Pair : Node {
  const Node *left, *right;
  __device__ Pair(const Node* l, const Node* r) : left(l), right(r) {}
  __device__ int sum(int depth) const override { return left->sum(depth + 1) + right->sum(depth + 1) + depth; }
};

__global__ void add_up(int* sums, int depth) {
  const Node* node = new Leaf(int(threadIdx.x));
  for (int i = 0; i < depth; ++i) node = threadIdx.x % 2 ? new Pair(node, new Leaf(i)) : new Pair(new Leaf(i), node);
  sums[threadIdx.x] = node->sum(0);
}

int main() {
  int *d, h[64];
  cudaMalloc(&d, sizeof h);
  for (int depth = 0; depth <= 4; ++depth) {
    add_up<<<1, 64>>>(d, depth);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 64; ++t)
      if (h[t] != t + depth * (depth - 1)) return printf("virtual_trees: FAIL depth %d thread %d: %d\n", depth, t, h[t]), 1;
  }
  add_up<<<1, 64>>>(d, 500);
  if (cudaDeviceSynchronize() != cudaErrorHardwareStackError) return puts("virtual_trees: FAIL no stack error"), 1;
  puts("virtual_trees: PASS");
  return 0;
}
