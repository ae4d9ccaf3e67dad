// One kernel of an Accel-Sim trace (kernel-N.traceg, post-processed: grouped by block), line by line.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "exec/executor.h"
#include "stream/accelsim/lines.h"

namespace simtlab::stream::accelsim {

// The header of a kernel file: its lines before the first '#'.
struct Header {
  std::string name;
  exec::Dim3 grid, block;
  std::uint64_t shared_bytes = 0, registers = 0, binary_version = 0, stream = 0, shared_base = 0,
                local_base = 0;
  std::uint64_t tracer_version = 0;
  bool line_info = false;

  unsigned warps() const { return static_cast<unsigned>((block.count() + 31) / 32); }
};

inline constexpr unsigned max_registers = 16;  // of an instruction, destinations and sources together

struct Instruction {
  std::uint32_t source_line = 0;
  std::uint64_t pc = 0;
  std::uint32_t mask = 0;
  std::array<std::uint16_t, max_registers> registers{};  // destinations, then sources
  std::uint8_t destinations = 0, sources = 0;
  std::string_view opcode;  // of the current line
  std::uint64_t width = 0;  // as written; 0: no memory instruction
  bool has_addresses = false;
  std::array<std::uint64_t, 32> addresses{};  // where mask has the lane
  std::int64_t immediate = 0;
};

class KernelFile {
 public:
  explicit KernelFile(std::unique_ptr<Text> text, std::string name);  // reads the header

  enum class Event { block, warp, instruction, block_end, end };
  Event next();  // throws Error(bad_input "accelsim-...")
  const Header& header() const { return header_; }
  std::uint64_t block() const { return block_; }  // number in the grid
  unsigned warp() const { return warp_; }         // in the block
  const Instruction& instruction() const { return instruction_; }
  const Lines& lines() const { return lines_; }

 private:
  void read_header();
  void read_key(std::string_view key, std::string_view value);
  void read_block();
  void read_instruction();
  void read_addresses(std::string_view& rest);
  std::string_view required_line(const char* what);

  Lines lines_;
  Header header_;
  std::uint64_t block_ = 0;
  unsigned warp_ = 0;
  std::uint64_t left_ = 0;  // instructions of the warp
  std::uint32_t warps_seen_ = 0;
  bool in_block_ = false;
  Instruction instruction_;
};

}  // namespace simtlab::stream::accelsim
