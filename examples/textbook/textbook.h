// What the textbook kernels share: their times with L2 flushed and back to back, as NVBench takes them.
#pragma once

#include "../boards/board.h"

__global__ void overwrite(unsigned* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = 0;
}

// Prints both times of a launch. Flushed: as much as L2 holds is written before, and written lines stay in
// it, as after the memset of NVBench. Back to back: the mean of launches behind one that is not counted.
template <class Launch>
void report_times(Launch launch, int launches) {
  const int bytes = device_properties().l2CacheSize, count = bytes / 4, threads = 256;
  {
    Buffer<unsigned> other(static_cast<std::size_t>(count));
    overwrite<<<(count + threads - 1) / threads, threads>>>(other.data, count);
    CHECK(cudaDeviceSynchronize());
    report("flushed", milliseconds_each(1, launch) * 1e3, "us");
  }
  report("back_to_back", milliseconds_each(launches, launch) * 1e3, "us");
}

// Threads that cover `count`, in blocks of `each`.
inline int blocks_of(int count, int each) { return (count + each - 1) / each; }
