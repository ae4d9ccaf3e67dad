// Pointer chase: a few lone threads follow one long ring, each from its own start. The next address is known when the last load
// is back, so latency is all that counts.
#include "example.h"

__global__ void chase(int steps, const int* start, const int* next, int* end) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = start[i];
  for (int s = 0; s < steps; ++s) at = next[at];
  end[i] = at;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 15, 64, 1 << 26), threads = 60, steps = 200;
  Sequence random;
  std::vector<int> deck(n), next(n), start(threads), want(threads);
  for (int i = 0; i < n; ++i) {
    const int j = static_cast<int>(random.next() % (i + 1));
    deck[i] = deck[j];
    deck[j] = i;
  }
  for (int i = 0; i < n; ++i) next[deck[i]] = deck[(i + 1) % n];
  for (int t = 0; t < threads; ++t) {
    const int first = static_cast<int>(static_cast<long long>(t) * n / threads);
    start[t] = deck[first];
    want[t] = deck[(first + steps) % n];
  }
  Buffer<int> dstart(start), dnext(next), end(threads);
  chase<<<threads, 1>>>(steps, dstart.data, dnext.data, end.data);
  CHECK(cudaGetLastError());
  return verdict("pointer_chase", end.get() == want);
}
