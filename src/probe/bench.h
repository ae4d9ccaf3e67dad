// What every probe works with: the board, what has been found so far, kernels and buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/board/board.h"
#include "probe/analysis/finding.h"
#include "probe/analysis/timer.h"

namespace simtlab::probe {

struct ProbeOptions {
  bool quick = false;                         // fewer points; what takes long is left out
  std::uint64_t seed = 1;                     // of random orders
  Correction correction = Correction::slope;  // of the clock's cost, in latencies of single operations
  const volatile bool* interrupt = nullptr;
};

class Bench {
 public:
  Bench(gpu::Board& board, const ProbeOptions& options, Findings& found)
      : board(board), options(options), found(found) {}
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // Device memory for a while.
  class Buffer {
   public:
    Buffer(Bench& bench, std::uint64_t bytes, std::uint64_t alignment = 256);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    std::uint64_t address() const { return aligned_; }
    std::uint64_t bytes() const { return bytes_; }

   private:
    Bench& bench_;
    std::uint64_t base_, aligned_, bytes_;
  };

  // A kernel of a module; a text is compiled once. `body` has no .version line: it gets what the board takes.
  gpu::Board::Function kernel(const std::string& body, const std::string& name);
  // Lets go of a module that was needed once.
  void forget(const std::string& body);
  // Launches, waits, and reads so many words that the kernel left at `out`.
  std::vector<std::uint64_t> run(gpu::Board::Function function, std::uint32_t blocks, std::uint32_t threads,
                                 const gpu::Arguments& arguments, std::uint64_t out, std::size_t words,
                                 std::uint32_t shared_bytes = 0);
  // Throws Error(interrupted) when the user asked to stop.
  void check_interrupt() const;

  gpu::Board& board;
  const ProbeOptions options;
  Findings& found;
  std::uint64_t launches = 0;

 private:
  struct Loaded {
    gpu::Board::Module module = 0;
    std::map<std::string, gpu::Board::Function> functions;
  };
  std::map<std::string, Loaded> modules_;
};

// ".version 6.3 .target sm_75 ..." for a board: the lowest version that knows what the probes use and the
// board's generation.
std::string ptx_header(const gpu::BoardFacts& facts);

}  // namespace simtlab::probe
