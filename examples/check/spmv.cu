// A sparse matrix times a vector, a row by a warp, and distances in a graph, level by level.
#include "../example.h"

__global__ void spmv(int rows, const int* start, const int* column, const int* value, const int* x, int* y) {
  __shared__ int part[2][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.x * 2 + warp;
  if (row >= rows) return;
  int sum = 0;
  for (int k = start[row] + lane; k < start[row + 1]; k += 32) sum += value[k] * x[column[k]];
  part[warp][lane] = sum;
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    if (lane < half) part[warp][lane] += part[warp][lane + half];
    __syncwarp();
  }
  if (lane == 0) y[row] = part[warp][0];
}

// Nodes of one level, as marks, give the marks of the next one.
__global__ void level(int rows, int depth, const int* start, const int* column, const int* in, int* out,
                      int* distance) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= rows || in[i] == 0) return;
  for (int k = start[i]; k < start[i + 1]; ++k) {
    const int next = column[k];
    if (atomicMin(&distance[next], depth) > depth) atomicExch(&out[next], 1);
  }
}

__global__ void total(int rows, const int* distance, int* sum) {
  __shared__ int mine;
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (threadIdx.x == 0) mine = 0;
  __syncthreads();
  if (i < rows) atomicAdd(&mine, distance[i]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, mine);
}

int main() {
  const int rows = 151, blocks = 3;
  std::vector<int> start(rows + 1), column, value, x(rows), want(rows), got(rows), far(rows, 1000);
  for (int row = 0; row < rows; ++row) {
    x[row] = row % 7;
    for (int k = 0; k < row % 50; ++k) {
      column.push_back((row * 31 + k * k) % rows);
      value.push_back(k % 5);
    }
    start[row + 1] = static_cast<int>(column.size());
  }
  for (int row = 0; row < rows; ++row)
    for (int k = start[row]; k < start[row + 1]; ++k) want[row] += value[k] * x[column[k]];
  const std::vector<int> nowhere = far;
  const int entries = start[rows], root = 49;
  std::vector<int> now{root};
  far[root] = 0;
  int depths = 0, sum = 0;
  for (; !now.empty(); ++depths) {
    std::vector<int> next;
    for (const int node : now)
      for (int k = start[node]; k < start[node + 1]; ++k)
        if (far[column[k]] == 1000) far[column[k]] = depths + 1, next.push_back(column[k]);
    now = next;
  }
  for (const int d : far) sum += d;
  int *dstart, *dcolumn, *dvalue, *dx, *dy, *distance, *marks, *sums;
  CHECK(cudaMalloc(&dstart, (rows + 1) * sizeof(int)));
  CHECK(cudaMalloc(&dcolumn, entries * sizeof(int)));
  CHECK(cudaMalloc(&dvalue, entries * sizeof(int)));
  CHECK(cudaMalloc(&dx, rows * sizeof(int)));
  CHECK(cudaMalloc(&dy, rows * sizeof(int)));
  CHECK(cudaMalloc(&distance, rows * sizeof(int)));
  CHECK(cudaMalloc(&marks, (depths + 1) * rows * sizeof(int)));
  CHECK(cudaMalloc(&sums, sizeof(int)));
  CHECK(cudaMemcpy(dstart, start.data(), (rows + 1) * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dcolumn, column.data(), entries * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dvalue, value.data(), entries * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dx, x.data(), rows * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(distance, nowhere.data(), rows * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(marks, 0, (depths + 1) * rows * sizeof(int)));
  CHECK(cudaMemset(sums, 0, sizeof(int)));
  const int zero = 0, one = 1;
  CHECK(cudaMemcpy(distance + root, &zero, sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(marks + root, &one, sizeof(int), cudaMemcpyHostToDevice));
  spmv<<<(rows + 1) / 2, 64>>>(rows, dstart, dcolumn, dvalue, dx, dy);
  for (int d = 0; d < depths; ++d)
    level<<<blocks, 64>>>(rows, d + 1, dstart, dcolumn, marks + d * rows, marks + (d + 1) * rows, distance);
  total<<<blocks, 64>>>(rows, distance, sums);
  CHECK(cudaGetLastError());
  int got_sum;
  CHECK(cudaMemcpy(got.data(), dy, rows * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&got_sum, sums, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(dstart));
  CHECK(cudaFree(dcolumn));
  CHECK(cudaFree(dvalue));
  CHECK(cudaFree(dx));
  CHECK(cudaFree(dy));
  CHECK(cudaFree(distance));
  CHECK(cudaFree(marks));
  CHECK(cudaFree(sums));
  return verdict("spmv", got == want && got_sum == sum);
}
