#include "compile/device_code.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>

namespace simtlab::compile {
namespace {

// nvcc 13 unrolls a loop of known length if the copies have at most some 420 instructions of LLVM: sums of up
// to 80 terms, 20 turns of a loop of 20 instructions. Where the turns index a local array it goes up to some
// 3000, since only an array that is indexed by constants can live in registers: the copy of an array of 480
// elements, not of 512. Both were found by trying lengths. clang has one limit for all loops of a file. The
// middle one spares a file most of the copies that the loops without arrays would get by the largest.
constexpr int usual_limit = 420, middle_limit = 1000, array_limit = 3000;

}  // namespace

Options optimised_device_code(int assembler_level, int level) {
  Options options = {"-O" + std::to_string(level)};
  // nvcc makes four copies of the body of a loop of unknown length, as long as they have some 150
  // instructions; clang would make up to eight, of a quarter of the other limit. A loop of known length that
  // is too long for writing out gets four, too, where nvcc makes up to 32. nvcc puts functions of some 5000
  // instructions into four callers' places and stops at twice that; clang stops at some 500, so that a tile's
  // product with 64 sums would be a call.
  if (level == 3)
    for (const char* option :
         {"-unroll-partial-threshold=150", "-unroll-max-count=4", "-inline-threshold=4000"})
      options.insert(options.end(), {"-mllvm", option});
  // PTX goes to an assembler that moves loads ahead of what need not come before them and chooses how loops
  // count (ptxas -O2 and up); clang leaves that to it and writes instructions as the source has them. Here
  // nothing comes after clang (docs/reference/deviations/ptx.md), so
  // - its own scheduler of the back end orders them: a sum of two loads in a loop waits for both at once;
  // - what a loop's end is compared with may be computed before the loop where that takes up to 16
  // instructions, so that one counter serves for address and end.
  // ptxas -O0 keeps the order of the PTX, and -O1 nearly does.
  if (assembler_level >= 2)
    options.insert(options.end(), {"-mllvm", "-enable-misched", "-mllvm", "-scev-cheap-expansion-budget=16"});
  return options;
}

std::uint64_t local_bytes(std::string_view ptx) {
  constexpr std::string_view name = "__local_depot";
  std::uint64_t sum = 0;
  for (std::size_t at = ptx.find(name); at != ptx.npos; at = ptx.find(name, at + name.size())) {
    std::size_t next = ptx.find_first_not_of("0123456789", at + name.size());
    if (next == ptx.npos || ptx[next] != '[') continue;  // a use
    std::uint64_t bytes = 0;
    std::from_chars(ptx.data() + next + 1, ptx.data() + ptx.size(), bytes);
    sum += bytes;
  }
  return sum;
}

std::string unrolled_as_nvcc(const std::function<std::string(const Options&)>& compile) {
  std::string best;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const int most : {usual_limit, middle_limit, array_limit}) {
    std::string ptx = compile({"-mllvm", "-unroll-threshold=" + std::to_string(most)});
    const std::uint64_t bytes = local_bytes(ptx);
    if (bytes < least) best = std::move(ptx);
    least = std::min(least, bytes);
    if (least == 0) break;
  }
  return best;
}

}  // namespace simtlab::compile
