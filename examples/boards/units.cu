// What one instruction after another costs: dependent ones of one warp, and those of a full SM.
//
//   units [NAME]   all, or one of those that are printed
// Prints for each operation `NAME.latency`, cycles of a link of a chain in one warp, and `NAME.rate`, lanes a
// cycle of an SM with 32 warps of four chains each. The operations are written so that the assembler keeps
// every one: a link needs the one before, no two make one instruction, none can be left out.
#include <algorithm>

#include "board.h"

const char* const kUsage = "units [NAME]";
constexpr int kLinks = 32, kTurns = 64, kChains = 4, kMostThreads = 1024;

struct Given {
  unsigned y, z;  // 0 and 1, which the assembler does not know
  unsigned* cells;
};

// A link: what it does to x. Its chain's cells of shared memory begin at `shared`.
#define OPERATION(name, ...)                                                       \
  struct name {                                                                    \
    static constexpr const char* kName = #name;                                    \
    static __device__ unsigned link(unsigned x, const Given& g, unsigned shared) { \
      __VA_ARGS__;                                                                 \
      return x;                                                                    \
    }                                                                              \
  };

namespace unit {

OPERATION(lop3, asm volatile("lop3.b32 %0, %0, %1, %2, 0x78;" : "+r"(x) : "r"(g.y), "r"(g.z)))
OPERATION(imnmx, asm volatile("min.u32 %0, %0, %1;\n\tmax.u32 %0, %0, %2;" : "+r"(x) : "r"(g.y), "r"(g.z)))
OPERATION(shift, asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(g.y), "r"(g.z)))
OPERATION(imad, asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(g.z), "r"(g.y)))
OPERATION(imad_hi, asm volatile("mad.hi.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(g.z), "r"(g.y)))
OPERATION(prmt, asm volatile("prmt.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(g.y), "r"(g.z)))
OPERATION(popc, asm volatile("popc.b32 %0, %0;" : "+r"(x)))
OPERATION(brev, asm volatile("brev.b32 %0, %0;" : "+r"(x)))
OPERATION(find, asm volatile("bfind.u32 %0, %0;" : "+r"(x)))
OPERATION(select, asm volatile("{.reg .pred p;\n\tsetp.lt.u32 p, %0, %1;\n\tselp.b32 %0, %2, %0, p;}"
                               : "+r"(x)
                               : "r"(g.y), "r"(g.z)))
OPERATION(fadd, asm volatile("add.f32 %0, %0, %1;" : "+r"(x) : "r"(g.z)))
OPERATION(ffma, asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+r"(x) : "r"(g.z), "r"(g.y)))
OPERATION(fmnmx, asm volatile("min.f32 %0, %0, %1;\n\tmax.f32 %0, %0, %2;" : "+r"(x) : "r"(g.y), "r"(g.z)))
OPERATION(hfma2, asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(g.z), "r"(g.y)))
OPERATION(ex2, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+r"(x)))
OPERATION(rsqrt, asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+r"(x)))
OPERATION(rcp, asm volatile("{.reg .b32 t;\n\trcp.approx.ftz.f32 t, %0;\n\tadd.f32 %0, t, %1;}"
                            : "+r"(x)
                            : "r"(g.z)))
OPERATION(f2i, asm volatile("cvt.rzi.s32.f32 %0, %0;" : "+r"(x)))
OPERATION(i2f, asm volatile("cvt.rn.f32.s32 %0, %0;" : "+r"(x)))
OPERATION(
    f2f,
    asm volatile(
        "{.reg .f64 d;\n\tcvt.f64.f32 d, %0;\n\tadd.f64 d, d, 0d3ff0000000000000;\n\tcvt.rn.f32.f64 %0, d;}"
        : "+r"(x)))
OPERATION(dfma, asm volatile(
                    "{.reg .f64 d;\n\tmov.b64 d, {%0, %1};\n\tfma.rn.f64 d, d, d, d;\n\tmov.b64 {%0, _}, d;}"
                    : "+r"(x)
                    : "r"(g.y)))
OPERATION(shfl, asm volatile("shfl.sync.idx.b32 %0, %0, %0, 31, 0xffffffff;" : "+r"(x)))
OPERATION(vote,
          asm volatile("{.reg .pred p;\n\tsetp.eq.u32 p, %0, %1;\n\tvote.sync.ballot.b32 %0, p, 0xffffffff;}"
                       : "+r"(x)
                       : "r"(g.y)))
OPERATION(redux, asm volatile("redux.sync.add.u32 %0, %0, 0xffffffff;" : "+r"(x)))
OPERATION(match, asm volatile("match.any.sync.b32 %0, %0, 0xffffffff;" : "+r"(x)))
// Cells hold zeros: a link's address is its chain's first cell, and what is loaded is added to it.
OPERATION(lds, asm volatile("{.reg .b32 t;\n\tadd.u32 t, %0, %1;\n\tld.shared.u32 %0, [t];}"
                            : "+r"(x)
                            : "r"(shared)
                            : "memory"))
OPERATION(lds128,
          asm volatile(
              "{.reg .b32 t, a, b, c;\n\tadd.u32 t, %0, %1;\n\tld.volatile.shared.v4.u32 {%0, a, b, c}, [t];}"
              : "+r"(x)
              : "r"(shared & ~15u)
              : "memory"))
OPERATION(sts, asm volatile("st.shared.u32 [%1], %0;" : "+r"(x) : "r"(shared) : "memory"))
OPERATION(atoms, asm volatile("{.reg .b32 t;\n\tadd.u32 t, %0, %1;\n\tatom.shared.max.u32 %0, [t], %2;}"
                              : "+r"(x)
                              : "r"(shared), "r"(g.y)
                              : "memory"))
OPERATION(atoms_same, asm volatile("{.reg .b32 t;\n\tadd.u32 t, %0, %1;\n\tatom.shared.max.u32 %0, [t], %2;}"
                                   : "+r"(x)
                                   : "r"(shared & ~0xfffu), "r"(g.y)
                                   : "memory"))
OPERATION(reds_same, asm volatile("red.shared.max.u32 [%1], %2;"
                                  : "+r"(x)
                                  : "r"(shared & ~0xfffu), "r"(g.y)
                                  : "memory"))
OPERATION(cas_shared,
          asm volatile("{.reg .b32 t;\n\tadd.u32 t, %0, %1;\n\tatom.shared.cas.b32 %0, [t], %2, %2;}"
                       : "+r"(x)
                       : "r"(shared), "r"(g.y)
                       : "memory"))
OPERATION(atomg,
          asm volatile("{.reg .b64 t;\n\tmad.wide.u32 t, %0, 4, %1;\n\tatom.global.max.u32 %0, [t], %2;}"
                       : "+r"(x)
                       : "l"(g.cells + threadIdx.x), "r"(g.y)
                       : "memory"))
OPERATION(fence_block, asm volatile("st.shared.u32 [%1], %0;\n\tmembar.cta;"
                                    : "+r"(x)
                                    : "r"(shared)
                                    : "memory"))
OPERATION(fence_gpu, asm volatile("st.global.u32 [%1], %0;\n\tmembar.gl;"
                                  : "+r"(x)
                                  : "l"(g.cells + threadIdx.x)
                                  : "memory"))
OPERATION(fence_gpu_only, asm volatile("membar.gl;" ::: "memory"))
OPERATION(bar_warp, asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"))
OPERATION(clock, asm volatile("{.reg .b32 t;\n\tmov.u32 t, %%clock;\n\tadd.u32 %0, %0, t;}" : "+r"(x)))

}  // namespace unit

template <class Op, int chains>
__global__ __launch_bounds__(kMostThreads) void chain(unsigned* out, long long* cycles, Given given) {
  __shared__ __align__(4096) unsigned cells[4096];
  for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) cells[i] = 0;
  unsigned x[chains];
  // Zeros; the assembler has to take them for different numbers.
  for (int c = 0; c < chains; ++c) x[c] = given.y * (threadIdx.x + c);
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(cells)) + 4 * threadIdx.x;
  long long begin = 0;
#pragma unroll 1
  for (int i = 0; i <= kTurns; ++i) {
    if (i == 1) {
      __syncthreads();
      begin = clock64();
    }
#pragma unroll
    for (int j = 0; j < kLinks; ++j)
#pragma unroll
      for (int c = 0; c < chains; ++c) x[c] = Op::link(x[c], given, shared + 4096u * c);
  }
  unsigned sum = 0;
  for (int c = 0; c < chains; ++c) sum += x[c];
  out[threadIdx.x] = sum;  // Before the clock is read: what is written must be there.
  const long long taken = clock64() - begin + (sum == 0x12345678u);
  if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = taken;
}

template <class Op, int chains>
double slowest(int threads) {
  Buffer<unsigned> out(zeros<unsigned>(kMostThreads)), cells(zeros<unsigned>(1 << 16));
  Buffer<long long> cycles(zeros<long long>(32));
  chain<Op, chains><<<1, threads>>>(out.data, cycles.data, Given{0, 1, cells.data});
  CHECK(cudaDeviceSynchronize());
  const auto taken = cycles.get();
  return static_cast<double>(*std::max_element(taken.begin(), taken.end())) / (kLinks * kTurns);
}

template <class Op>
void measure(const char* only) {
  if (only && std::strcmp(only, Op::kName) != 0) return;
  report(std::string(Op::kName) + ".latency", slowest<Op, 1>(32), "cycles");
  report(std::string(Op::kName) + ".rate", kChains * kMostThreads / slowest<Op, kChains>(kMostThreads),
         "lanes/cycle");
}

template <class... Ops>
void measure_each(const char* only) {
  (measure<Ops>(only), ...);
}

int main(int argc, char** argv) {
  if (argc > 2) wrong_words(kUsage);
  measure_each<unit::lop3, unit::imnmx, unit::shift, unit::imad, unit::imad_hi, unit::prmt, unit::popc,
               unit::brev, unit::find, unit::select, unit::fadd, unit::ffma, unit::fmnmx, unit::hfma2,
               unit::ex2, unit::rsqrt, unit::rcp, unit::f2i, unit::i2f, unit::f2f, unit::dfma, unit::shfl,
               unit::vote, unit::redux, unit::match, unit::lds, unit::lds128, unit::sts, unit::atoms,
               unit::atoms_same, unit::reds_same, unit::cas_shared, unit::atomg, unit::fence_block,
               unit::fence_gpu, unit::fence_gpu_only, unit::bar_warp, unit::clock>(argc > 1 ? argv[1]
                                                                                            : nullptr);
  return verdict("units", true);
}
