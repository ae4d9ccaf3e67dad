// Sums under locks: a spin lock, a ticket lock, and one lock for each of several accounts.
#include "../example.h"

__device__ void take(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ void give(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void spin(int* lock, long long* sum, int* times) {
  if (threadIdx.x == 0) {
    take(lock);
    sum[0] += blockIdx.x;
    times[0] += 1;
    give(lock);
  }
}

__global__ void ticket(unsigned* next, unsigned* serving, long long* sum) {
  if (threadIdx.x != 0) return;
  const unsigned mine = atomicAdd(next, 1u);
  while (atomicAdd(serving, 0u) != mine) {
  }
  __threadfence();
  sum[0] += blockIdx.x;
  __threadfence();
  atomicAdd(serving, 1u);
}

// Locks with orders in the instructions themselves.
__global__ void accounts(int n, const int* which, int* locks, int* balance) {
  const int i = blockIdx.x * 4 + threadIdx.x / 32;
  if (threadIdx.x % 32 != 0 || i >= n) return;
  int* const lock = &locks[which[i]];
  for (int old = 1; old != 0;)
    asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(lock) : "memory");
  balance[which[i]] += i;
  asm volatile("st.release.gpu.global.b32 [%0], 0;" ::"l"(lock) : "memory");
}

int main() {
  const int blocks = 20, n = 77, count = 5;
  std::vector<int> which(n), want(count), got(count);
  for (int i = 0; i < n; ++i) want[which[i] = i * 3 % count] += i;
  int *lock, *times, *choice, *locks, *balance;
  unsigned* tickets;
  long long* sums;
  CHECK(cudaMalloc(&lock, sizeof(int)));
  CHECK(cudaMalloc(&times, sizeof(int)));
  CHECK(cudaMalloc(&choice, n * sizeof(int)));
  CHECK(cudaMalloc(&locks, count * sizeof(int)));
  CHECK(cudaMalloc(&balance, count * sizeof(int)));
  CHECK(cudaMalloc(&tickets, 2 * sizeof(unsigned)));
  CHECK(cudaMalloc(&sums, 2 * sizeof(long long)));
  CHECK(cudaMemset(lock, 0, sizeof(int)));
  CHECK(cudaMemset(times, 0, sizeof(int)));
  CHECK(cudaMemcpy(choice, which.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(locks, 0, count * sizeof(int)));
  CHECK(cudaMemset(balance, 0, count * sizeof(int)));
  CHECK(cudaMemset(tickets, 0, 2 * sizeof(unsigned)));
  CHECK(cudaMemset(sums, 0, 2 * sizeof(long long)));
  spin<<<blocks, 64>>>(lock, sums, times);
  ticket<<<blocks, 32>>>(tickets, tickets + 1, sums + 1);
  accounts<<<blocks, 128>>>(n, choice, locks, balance);
  CHECK(cudaGetLastError());
  long long got_sums[2];
  int got_times;
  CHECK(cudaMemcpy(got_sums, sums, sizeof(got_sums), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&got_times, times, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got.data(), balance, count * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(lock));
  CHECK(cudaFree(times));
  CHECK(cudaFree(choice));
  CHECK(cudaFree(locks));
  CHECK(cudaFree(balance));
  CHECK(cudaFree(tickets));
  CHECK(cudaFree(sums));
  const long long sum = blocks * (blocks - 1) / 2;
  return verdict("lock", got_sums[0] == sum && got_sums[1] == sum && got_times == blocks && got == want);
}
