// How memory instructions of a warp leave it, and when their results are there.
//
//   queues [WARPS]
//     WARPS    of the one block, each on another scheduler up to four (1): 1..32
// Prints, for loads and stores that follow each other without a dependence, `NAME.N`: the cycles until N of them
// have issued, beyond those of none (a queue shows as a step behind as many as it holds), and `NAME.step`: the
// cycles between two of the last ones, each warp. `NAME.latency`: cycles from the issue of a load to that of an
// instruction that needs its result, one warp. NAME is the instruction and its width in bits; `far` has 32 lanes
// on 32 lines of memory that L1 does not hold and L2 does.
#include <algorithm>

#include "board.h"

const char* const kUsage = "queues [WARPS]";
constexpr int kRounds = 4;  // The first ones bring code and data in.
constexpr unsigned kCells = 1u << 20;

struct Places {
  unsigned shared;
  const unsigned* global;
  unsigned* out;
};

// What is loaded into v, or stored of it, at the n-th place of the lane.
#define ACCESS(name, bits, ...)                                                                \
  struct name {                                                                                \
    static constexpr const char* kName = #name;                                                \
    static constexpr unsigned kBytes = bits / 8;                                               \
    static __device__ void at(unsigned (&v)[4], const Places& p, unsigned n) { __VA_ARGS__; } \
  };

namespace access {

ACCESS(lds32, 32, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v[0]) : "r"(p.shared + 4096 * (n % 8))))
ACCESS(lds64, 64,
       asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];"
                    : "=r"(v[0]), "=r"(v[1])
                    : "r"(p.shared + 4096 * (n % 8))))
ACCESS(lds128, 128,
       asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                    : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                    : "r"(p.shared + 4096 * (n % 8))))
ACCESS(ldg32, 32,
       asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[0]) : "l"(p.global + 1024 * (n % 8)) : "memory"))
ACCESS(ldg64, 64,
       asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];"
                    : "=r"(v[0]), "=r"(v[1])
                    : "l"(p.global + 1024 * (n % 8))
                    : "memory"))
ACCESS(ldg128, 128,
       asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                    : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                    : "l"(p.global + 1024 * (n % 8))
                    : "memory"))
ACCESS(sts32, 32, asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(p.shared + 4096 * (n % 8)), "r"(v[0])))
ACCESS(stg32, 32, asm volatile("st.global.u32 [%0], %1;" ::"l"(p.out + 1024 * (n % 8)), "r"(v[0]) : "memory"))
// The places of lanes lie 128 bytes apart, those of loads 4096, those of warps 127,104: 32 warps have room.
ACCESS(far, 32,
       asm volatile("ld.global.cg.u32 %0, [%1];"
                    : "=r"(v[0])
                    : "l"(p.global + 31 * (threadIdx.x % 32) + 31 * 1024 * (threadIdx.x / 32) + 1024 * n)
                    : "memory"))

}  // namespace access

__device__ unsigned now() {
  unsigned cycle;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycle)::"memory");
  return cycle;
}

// Uses: the clock is read again behind an instruction that needs what was loaded last.
template <class Access, int count, bool uses>
__global__ void issue(unsigned* out, unsigned* cycles, const unsigned* global) {
  __shared__ __align__(16) unsigned cells[9 * 1024];
  for (unsigned i = threadIdx.x; i < 9 * 1024; i += blockDim.x) cells[i] = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x * Access::kBytes / 4 % 1024;
  const Places places{static_cast<unsigned>(__cvta_generic_to_shared(cells)) + 4 * lane, global + lane, out + lane};
  unsigned sum = 0, taken = 0;
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    unsigned v[count + 1][4] = {};
    __syncthreads();
    const unsigned begin = now();
#pragma unroll
    for (int n = 0; n < count; ++n) Access::at(v[n], places, static_cast<unsigned>(n));
    if (uses) asm volatile("add.u32 %0, %0, %1;" : "+r"(sum) : "r"(v[count > 0 ? count - 1 : 0][0]));
    taken = now() - begin;
    // Only here, behind the clock: stores are not moved before it.
#pragma unroll
    for (int n = 0; n < count; ++n)
      for (unsigned k = 0; k < Access::kBytes / 4; ++k)
        asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(places.shared), "r"(v[n][k]));
  }
  if (sum == 0x12345678u) out[threadIdx.x] = sum;  // Never so, which the compiler does not know.
  if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = taken;
}

template <class Access, int count, bool uses>
double slowest(int warps) {
  Buffer<unsigned> out(zeros<unsigned>(kCells)), global(zeros<unsigned>(kCells)), cycles(zeros<unsigned>(32));
  issue<Access, count, uses><<<1, 32 * warps>>>(out.data, cycles.data, global.data);
  CHECK(cudaDeviceSynchronize());
  const auto taken = cycles.get();
  return *std::max_element(taken.begin(), taken.end());
}

template <class Access, int... counts>
void measure_queue(int warps) {
  const double none = slowest<Access, 0, false>(warps);
  (report(std::string(Access::kName) + "." + std::to_string(counts), slowest<Access, counts, false>(warps) - none,
          "cycles"),
   ...);
  report(std::string(Access::kName) + ".step",
         (slowest<Access, 16, false>(warps) - slowest<Access, 12, false>(warps)) / 4, "cycles");
}

template <class Access>
void measure_latency() {
  report(std::string(Access::kName) + ".latency",
         slowest<Access, 1, true>(1) - slowest<Access, 0, true>(1), "cycles");
}

template <class... Accesses>
void measure_latencies() {
  (measure_latency<Accesses>(), ...);
}

int main(int argc, char** argv) {
  if (argc > 2) wrong_words(kUsage);
  const int warps = argc > 1 ? whole(argv[1], 1, 32, kUsage) : 1;
  measure_queue<access::lds32, 1, 2, 4, 5, 6, 7, 8, 12, 16>(warps);
  measure_queue<access::ldg32, 1, 2, 4, 5, 6, 7, 8, 12, 16>(warps);
  measure_queue<access::sts32, 1, 2, 4, 5, 6, 7, 8, 12, 16>(warps);
  measure_queue<access::stg32, 1, 2, 4, 5, 6, 7, 8, 12, 16>(warps);
  measure_queue<access::far, 1, 2, 3, 4, 5, 6, 8, 12, 16>(warps);
  if (warps == 1)
    measure_latencies<access::lds32, access::lds64, access::lds128, access::ldg32, access::ldg64, access::ldg128>();
  return verdict("queues", true);
}
