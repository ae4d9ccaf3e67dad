// Chains of pointers through memory, followed by one thread: the order of its accesses is the order of the
// chain, whatever the caches do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "probe/bench.h"
#include "probe/interval.h"

namespace simtlab::probe {

enum class Path : std::uint8_t {
  through,  // looks into L1 first
  past,     // begins at L2
};

// A buffer with a chain in it. Visit i reads 8 bytes at offsets[i] + 8 * (visits of the same unit before) and
// finds there the address of visit i + 1; the last finds that of the first.
class Ring {
 public:
  static constexpr std::uint64_t slot_bytes = 8;
  // offsets: multiples of `unit` below `bytes`; a unit is visited at most unit / 8 times.
  Ring(Bench& bench, const Bench::Buffer& buffer, std::span<const std::uint64_t> offsets, std::uint32_t unit);
  std::uint64_t start() const { return start_; }
  std::size_t visits() const { return visits_; }

 private:
  std::uint64_t start_ = 0;
  std::size_t visits_ = 0;
};

// Cycles a load: `skip` loads, then n and 2n between readings of the clock; the slope. n a multiple of
// chase_round. Loads before those that are timed, beside `skip`
inline constexpr std::uint32_t chase_round = 64, chase_before = 3 * chase_round;
double chase(Bench& bench, Path path, const Ring& ring, std::uint64_t skip, std::uint32_t n);

// `skip` loads, then so many with a reading of the clock before and after each, and readings with nothing
// between. At most 4096 loads.
Singles singles(Bench& bench, Path path, const Ring& ring, std::uint64_t skip, std::uint32_t loads);
Singles singles(Bench& bench, const std::string& load, const std::string& setup, const std::string& declared,
                std::uint64_t start, std::uint64_t skip, std::uint32_t loads);

struct Census {
  std::uint64_t loads = 0;
  std::uint64_t fast = 0, medium = 0;  // took at most `near`, at most `far` cycles
  std::uint64_t cycles = 0, least = 0, most = 0;
  std::uint64_t last_fast = 0;  // of the last 64 loads, the latest in bit 0
  std::uint64_t slow() const { return loads - fast - medium; }
};
// `skip` loads, then `loads` timed one by one.
Census census(Bench& bench, Path path, const Ring& ring, std::uint64_t skip, std::uint64_t loads,
              std::uint64_t near, std::uint64_t far, std::uint32_t shared_bytes = 0);
// Blocks of that kernel that an SM holds.
std::uint32_t census_blocks(Bench& bench, std::uint32_t shared_bytes);

// The load that looks into L1, or begins at L2: on boards whose L1 does not cache global memory the read-only
// path does.
std::string load_of(Path path, const gpu::BoardFacts& facts);

// The same of other kinds of memory: kernels whose load, `%p` to `%p`, is this text (registers %p and %base,
// b64); setup runs once.
std::string ring_kernels(const std::string& load, const std::string& setup);
double chase(Bench& bench, gpu::Board::Function function, std::uint64_t start, std::uint64_t skip,
             std::uint32_t n);
Census census(Bench& bench, gpu::Board::Function function, std::uint64_t start, std::uint64_t skip,
              std::uint64_t loads, std::uint64_t near, std::uint64_t far, std::uint32_t shared_bytes = 0);

// Reads so many bytes with the whole GPU, past L1: what was in L2 before is not there any more if it is as
// much as L2 twice.
void read_over(Bench& bench, const Bench::Buffer& buffer);
// Nothing that is in L2 now stays there.
void flush(Bench& bench);

// 0, step, ... below bytes; and the same shuffled.
std::vector<std::uint64_t> steps(std::uint64_t bytes, std::uint64_t step);
std::vector<std::uint64_t> shuffled(std::vector<std::uint64_t> offsets, std::uint64_t seed);

}  // namespace simtlab::probe
