// Breadth-first search level by level: divergent, scattered reads, a flag that says whether to go on.
#include <queue>

#include "example.h"

__global__ void visit(int nodes, int level, const int* first, const int* neighbours, int* distance,
                      int* again) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes || distance[v] != level) return;
  for (int e = first[v]; e < first[v + 1]; ++e) {
    const int w = neighbours[e];
    if (distance[w] < 0) {
      distance[w] = level + 1;  // every writer writes the same
      *again = 1;
    }
  }
}

int main(int argc, char** argv) {
  const int nodes = size_argument(argc, argv, 4096, 2, 1 << 22);
  Sequence random;
  std::vector<int> first(nodes + 1), neighbours;
  for (int v = 0; v < nodes; ++v) {
    first[v] = static_cast<int>(neighbours.size());
    const int degree = 1 + static_cast<int>(random.next() % 8);
    for (int e = 0; e < degree; ++e) neighbours.push_back(static_cast<int>(random.next() % nodes));
  }
  first[nodes] = static_cast<int>(neighbours.size());

  std::vector<int> want(nodes, -1);
  std::queue<int> queue;
  queue.push(0);
  want[0] = 0;
  while (!queue.empty()) {
    const int v = queue.front();
    queue.pop();
    for (int e = first[v]; e < first[v + 1]; ++e)
      if (want[neighbours[e]] < 0) {
        want[neighbours[e]] = want[v] + 1;
        queue.push(neighbours[e]);
      }
  }

  std::vector<int> start(nodes, -1);
  start[0] = 0;
  Buffer<int> dfirst(first), dneighbours(neighbours), distance(start), again(1);
  for (int level = 0;; ++level) {
    again.put({0});
    visit<<<(nodes + 127) / 128, 128>>>(nodes, level, dfirst.data, dneighbours.data, distance.data,
                                        again.data);
    CHECK(cudaGetLastError());
    if (again.get()[0] == 0) break;
  }
  return verdict("bfs", distance.get() == want);
}
