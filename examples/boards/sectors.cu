// How fast SMs move sectors of 32 bytes between themselves and L2 or memory, by what a warp's lanes are
// apart.
//
//   sectors OP WIDTH APART SMS MIB [ROUNDS]
//     OP      load, store, add (a reduction: an atomic whose result nobody wants)
//     WIDTH   bytes of a lane's access: 4, 8, 16; add: 4
//     APART   bytes from a lane's access to the next lane's: WIDTH..65536
//     SMS     first (SM 0), pair (0 and 1), even (those of even numbers), all; beside: SM 0 beside each other
//     one MIB     what all accesses together touch, over and over: 1..8192, a power of two ROUNDS  of eight
//     accesses a thread (what walks MIB once, 32 to 64)
// Prints the accesses of one lane a cycle, of one SM and of all; cycles are those of the slowest SM. What
// does not fit in 64 MiB is walked once, else it is walked once before.
#include <algorithm>

#include "board.h"

const char* const kUsage = "sectors load|store|add WIDTH APART first|pair|even|all|beside MIB [ROUNDS]";
constexpr int kThreads = 1024, kTogether = 8, kBeside = 4;

enum class Op { load, store, add };

__device__ unsigned sm_number() {
  unsigned number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

__device__ unsigned from_l2(const uint1* at) { return __ldcg(&at->x); }
__device__ unsigned from_l2(const uint2* at) { return __ldcg(at).x; }
__device__ unsigned from_l2(const uint4* at) { return __ldcg(at).x; }

template <Op op, class T>
__device__ void access(unsigned* at, T& sum) {
  T* here = reinterpret_cast<T*>(at);
  if constexpr (op == Op::load) sum.x += from_l2(here);
  if constexpr (op == Op::store) *here = sum;
  if constexpr (op == Op::add) atomicAdd(&here->x, 1u);
}

// ranks: the place of a block's SM among those that take part; -1: it does not. Distances are in words of 4
// bytes, so that addresses cost few instructions.
template <Op op, class T>
__global__ __launch_bounds__(kThreads) void walk(unsigned* memory, unsigned* out, long long* cycles,
                                                 const int* ranks, int parts, int rounds, unsigned apart,
                                                 unsigned mask) {
  const int rank = ranks[sm_number()];
  if (rank < 0) return;
  const unsigned warps = kThreads / 32, step = parts * warps * 32 * apart;
  unsigned at = (rank * warps + threadIdx.x / 32) * 32 * apart + threadIdx.x % 32 * apart;
  T sum{};
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      access<op, T>(memory + (at & mask), sum);
      at += step;
    }
  }
  if (sum.x == 12345u) out[threadIdx.x] = sum.x;
  __syncthreads();
  if (threadIdx.x == 0) cycles[rank] = clock64() - begin;
}

__global__ void numbers(int* present) {
  if (threadIdx.x == 0) present[sm_number()] = 1;
}

struct Board {
  int count;
  std::vector<int> here;  // by number: whether there is such an SM
};

Board board_of() {
  const int count = device_properties().multiProcessorCount;
  Buffer<int> present(zeros<int>(count));
  numbers<<<4 * count, kThreads>>>(present.data);
  CHECK(cudaDeviceSynchronize());
  return {count, present.get()};
}

// Cycles of each SM that takes part.
template <Op op, class T>
std::vector<long long> cycles_of(const Board& board, const std::vector<int>& ranks, int parts,
                                 Buffer<unsigned>& memory, unsigned apart, int rounds, int turns) {
  Buffer<int> places(ranks);
  Buffer<long long> cycles(zeros<long long>(board.count));
  Buffer<unsigned> out(zeros<unsigned>(kThreads));
  for (int turn = 0; turn < turns; ++turn) {
    walk<op, T><<<board.count, kThreads>>>(memory.data, out.data, cycles.data, places.data, parts, rounds,
                                           apart / 4, static_cast<unsigned>(memory.count - 1));
    CHECK(cudaDeviceSynchronize());
  }
  auto taken = cycles.get();
  taken.resize(parts);
  return taken;
}

template <Op op, class T>
int measure(unsigned apart, int sms, unsigned long long bytes, int asked) {
  const Board board = board_of();
  Buffer<unsigned> memory(bytes / 4);
  CHECK(cudaMemset(memory.data, 0, bytes));
  if (sms == kBeside) {
    for (int other = 1; other < board.count; ++other) {
      std::vector<int> ranks(board.count, -1);
      ranks[0] = 0;
      ranks[other] = 1;
      const int rounds = asked ? asked : 64;
      report(std::to_string(other),
             1.0 * rounds * kTogether * kThreads /
                 cycles_of<op, T>(board, ranks, 2, memory, apart, rounds, 2)[0],
             "lanes/cycle");
    }
    return verdict("sectors", true);
  }
  std::vector<int> ranks(board.count, -1);
  int parts = 0;
  for (int i = 0; i < board.count; ++i)
    if (board.here[i] && (sms == 0 ? i == 0 : sms == 1 ? i < 2 : sms == 2 ? i % 2 == 0 : true))
      ranks[i] = parts++;
  const unsigned long long a_round = 32ull * apart * (kThreads / 32) * kTogether * parts;
  const unsigned long long once = (bytes + a_round - 1) / a_round;
  const bool stays = bytes <= (64ull << 20);
  const int rounds = asked ? asked
                           : static_cast<int>(stays       ? (once > 32 ? once : 32)
                                              : once < 64 ? once
                                                          : 64);
  const auto taken = cycles_of<op, T>(board, ranks, parts, memory, apart, rounds, stays ? 2 : 1);
  const double most = static_cast<double>(*std::max_element(taken.begin(), taken.end()));
  const double accesses = 1.0 * rounds * kTogether * kThreads;
  report("sm", accesses / most, "lanes/cycle");
  report("gpu", accesses * parts / most, "lanes/cycle");
  return verdict("sectors", most > 0.0);
}

template <Op op>
int by_width(int width, unsigned apart, int sms, unsigned long long bytes, int rounds) {
  if (width == 4) return measure<op, uint1>(apart, sms, bytes, rounds);
  if constexpr (op != Op::add) {
    if (width == 8) return measure<op, uint2>(apart, sms, bytes, rounds);
    if (width == 16) return measure<op, uint4>(apart, sms, bytes, rounds);
  }
  wrong_words(kUsage);
}

int main(int argc, char** argv) {
  if (argc != 6 && argc != 7) wrong_words(kUsage);
  const int width = whole(argv[2], 4, 16, kUsage), apart = whole(argv[3], width, 65536, kUsage);
  const int mib = whole(argv[5], 1, 8192, kUsage);
  const int rounds = argc > 6 ? whole(argv[6], 1, 1 << 16, kUsage) : 0;
  const std::string op = argv[1], who = argv[4];
  const int sms = who == "first"    ? 0
                  : who == "pair"   ? 1
                  : who == "even"   ? 2
                  : who == "all"    ? 3
                  : who == "beside" ? kBeside
                                    : -1;
  if (sms < 0 || (mib & (mib - 1)) != 0 || apart % width != 0) wrong_words(kUsage);
  const unsigned long long bytes = static_cast<unsigned long long>(mib) << 20;
  if (op == "load") return by_width<Op::load>(width, apart, sms, bytes, rounds);
  if (op == "store") return by_width<Op::store>(width, apart, sms, bytes, rounds);
  if (op == "add") return by_width<Op::add>(width, apart, sms, bytes, rounds);
  wrong_words(kUsage);
}
