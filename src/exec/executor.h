// The warp-vectorised functional executor.
//
// A LoadedModule places a module's variables in a GlobalMemory and binds every instruction to a handler for
// the host's instruction set. A Launch is one validated kernel launch (immutable). A Block is the state of
// one resident thread block: registers of its warps, shared and local memory, divergence stacks, barriers.
// The timing model steps warps one instruction at a time; run_functional runs whole grids at full speed.
//
// What is not modelled: docs/reference/deviations.md (independent thread scheduling, ...).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "exec/memory.h"
#include "ptx/module.h"

namespace simtlab::exec {

inline constexpr unsigned warp_size = 32;
// Blocks of a cluster: 8 on every device that has clusters, 16 where a kernel asks for as many.
inline constexpr unsigned most_cluster_blocks = 16;

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

// Texture as the tex instruction sees it; a handle is its index + 1 in the table of the launch (or a
// .texref's variable).
enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };
enum class ChannelKind : std::uint8_t { signed_int, unsigned_int, floating };
struct Texture {
  std::uint64_t address = 0;                                        // device address of the texels
  std::uint64_t width = 0, height = 1, depth = 1, pitch_bytes = 0;  // in texels; pitch of a row in bytes
  std::uint8_t channels = 1, channel_bits = 32;
  ChannelKind kind = ChannelKind::floating;
  AddressMode address_mode[3] = {AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  bool linear_filter = false, normalized_coordinates = false, read_normalized_float = false;
  bool is_line = false;  // of one dimension: a second coordinate has no meaning
};

struct BoundFunction;

// A module placed in device memory and bound to handlers. Needs the memory to outlive it.
class LoadedModule {
 public:
  LoadedModule(std::shared_ptr<const ptx::Module> module, GlobalMemory& memory);
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  const ptx::Module& module() const;
  std::uint64_t variable_address(std::uint32_t variable) const;  // device address; 0 for shared
  // Binds a .texref variable (by index) to a texture for launches that follow.
  void bind_texture(std::uint32_t variable, const Texture& texture);

  struct Impl;
  const Impl& impl() const { return *impl_; }
  // Bound when it is first asked for. Throws Error as ptx::Module::complete() does.
  const BoundFunction& bound(std::uint32_t function) const;

 private:
  std::unique_ptr<Impl> impl_;
};

class DeviceHeap;
class StoreBuffer;

// When an instruction of machine code delivers its results (exec/delays.h).
enum class Results : std::uint8_t {
  early,    // at once
  late,     // as late as the control information of the code allows
  checked,  // as late; a read that comes too early, or a write, is a Fault
};

// Local memory of a thread: the most that it may have on the hardware, and what CUDA gives the stack of one
// whose code does not say how deep it goes (cudaLimitStackSize).
inline constexpr std::uint32_t most_local_bytes = 512 << 10, default_stack_bytes = 1024;

// Everything fixed for one launch.
struct LaunchParams {
  const LoadedModule* module = nullptr;
  std::uint32_t function = 0;  // index in Module::functions, an entry
  Dim3 grid, block;
  // Blocks of a cluster; the grid is a multiple of it. The kernel may name them itself (.reqnctapercluster).
  Dim3 cluster;
  bool explicit_cluster = false;  // somebody has said so, even if it is one block
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> params;    // the parameter block; copied
  std::uint32_t sm_count = 1;           // %nsmid
  std::uint32_t max_warps_per_sm = 64;  // %nwarpid
  std::uint64_t grid_id = 0;
  double clock_hz = 1e9;              // %globaltimer from %clock64
  DeviceHeap* heap = nullptr;         // for malloc in kernels, prepared; null: it returns 0
  std::span<const Texture> textures;  // texture objects: handle = index + 1; must outlive the launch
  std::function<void(std::string_view)> print;  // device printf; called in the order of execution
  Results results = Results::early;
  std::uint32_t stack_bytes = default_stack_bytes;  // of machine code that recurses
};

struct Stuck;

class Launch {
 public:
  // Throws Error(bad_input "launch-...") when the launch is malformed (parameter bytes, zero or enormous
  // dimensions).
  Launch(const LaunchParams& params, GlobalMemory& memory);
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  const ptx::Function& function() const;
  const ptx::Module& module() const;
  Dim3 grid() const;
  Dim3 block() const;
  Dim3 cluster() const;
  unsigned cluster_blocks() const;
  std::uint64_t block_count() const;
  // The i-th block to begin, where one cluster begins after another.
  std::uint64_t block_in_order(std::uint64_t i) const;
  unsigned threads_per_block() const;
  unsigned warps_per_block() const;
  std::uint32_t shared_bytes() const;  // static + dynamic
  std::uint32_t local_bytes() const;   // a thread
  GlobalMemory& memory() const;
  const LaunchParams& params() const;
  std::uint64_t state_bytes_per_block() const;  // host memory of one Block: registers, shared, local

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// What one step did. Pointers stay valid until the next step of the same block.
struct Step {
  const ptx::Inst* inst = nullptr;
  std::uint32_t pc = 0;  // index in the code of `function`
  const ptx::Function* function = nullptr;
  std::uint32_t mask = 0;    // lanes that executed it: active and guard true
  std::uint32_t active = 0;  // lanes active before the guard
  // Memory instructions (ld, st, atom, red, cp.async, tex, prefetch): one address a lane (valid where mask
  // has the bit). Shared: offsets in the block's shared memory; local: offsets in the thread's local memory;
  // param/const: as said in ptx/module.h; generic: already resolved into `space` if all lanes agree, else
  // space = generic and windows are kept.
  const std::uint64_t* addresses = nullptr;
  const std::uint64_t* addresses2 = nullptr;  // cp.async: shared side; of bulk copies with the size above it
  ptx::Space space = ptx::Space::generic;
  std::uint16_t bytes = 0;  // per lane (whole vector)
  // Lanes of an access to shared memory that is another block's of the cluster.
  std::uint32_t remote = 0;
  // The instruction was not executed: it touches a line that a deferred atomic of its SM will change. It can
  // be executed after StoreBuffer::commit().
  bool blocked = false;
  // With `arrives`: which barrier, and the threads that the instruction names (0: all of the block).
  std::uint16_t barrier = 0, barrier_threads = 0;
  // The warp arrives at that barrier. Of machine code not every bar does, where lanes run apart; and an exit
  // does where the lanes that are left wait at one.
  bool arrives = false;
};

enum class WarpStatus : std::uint8_t { ready, barrier, exited };

// Instructions that a warp executed at once, and their threads.
struct Run {
  std::uint32_t instructions = 0;
  std::uint64_t threads = 0;
};

// A fault of the simulated program. code() = program_failed; the message names kernel, PTX line (and source
// line), block, thread, address and nearest allocation, as compute-sanitizer does.
class Fault : public Error {
 public:
  enum class Kind {
    illegal_address,
    misaligned_address,
    illegal_instruction,
    trap,
    assertion,
    deadlock,
    stack_overflow
  };
  Fault(Kind kind, std::string id, Diagnostic diagnostic)
      : Error(ExitCode::program_failed, std::move(id), std::move(diagnostic)), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// One resident thread block. reset() makes it another block of the same launch without allocating.
class Block {
 public:
  // buffer: keeps the block's writes to global memory until its commit(), and outlives the block; null:
  // writes act at once.
  explicit Block(const Launch& launch, StoreBuffer* buffer = nullptr);
  ~Block();
  Block(Block&&) noexcept;
  Block& operator=(Block&&) noexcept;

  void reset(std::uint64_t block_index, unsigned sm, unsigned first_warp_slot);
  std::uint64_t index() const;
  unsigned warp_count() const;
  WarpStatus status(unsigned warp) const;
  bool finished() const;  // all warps exited
  // Next instruction of a ready warp without executing it; null if it exited.
  const ptx::Inst* peek(unsigned warp) const;
  std::uint32_t peek_pc(unsigned warp) const;
  const ptx::Function* peek_function(unsigned warp) const;
  std::uint32_t active_mask(unsigned warp) const;
  // Executes the next instruction of a ready warp. now: SM clock cycles, for %clock. A warp that arrives last
  // at a barrier releases the others (their status becomes ready). Throws Fault. A warp whose lanes all
  // exited becomes `exited`; barriers then count only the warps that are left.
  const Step& step(unsigned warp, std::uint64_t now);
  // Where the warp's state is, as long as the block lives. Hints that it is to be stepped soon: the lines
  // that a step reads, and then, once those may have come, the registers of its next instructions and its
  // block's.
  const void* place(unsigned warp) const;
  static constexpr std::size_t place_bytes = 320;
  static void expect_registers(const void* place);
  // Executes instructions of a ready warp, at most so many, as long as each is plain: arithmetic without
  // guard that touches no memory, reads no clock and does not branch. None if the next one is not, or if
  // lanes of the warp run apart.
  Run run_plain(unsigned warp, std::uint32_t most);
  // From now on an arrival behind copies (Mods::behind_copies) waits for copies_done(): once for each such
  // instruction of the warp that lanes have executed, in their order.
  void hold_arrivals();
  void copies_done(unsigned warp);
  // Where the first unfinished warp is, in words: for a user who stops a run that does not end.
  std::string whereabouts() const;
  // Throws Fault(deadlock) with the barrier of each waiting warp, if no warp is ready and not all have
  // exited.
  void check_progress() const;
  // Whether no warp of the block will ever write or end while memory stays as it is (exec/spin.h): then adds
  // to `who` what each warp waits for. Looks ahead by at most `steps` instructions of a warp and leaves the
  // block as it was; if false, `who` may hold anything. Must not be called between commits of a store buffer.
  bool stuck(std::uint32_t steps, std::vector<Stuck>& who);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

// Batch of executed instructions handed to a consumer in functional runs.
struct Record {
  std::uint32_t pc;
  std::uint32_t mask;
  std::uint32_t address_index;  // index in the batch's address array (in groups of 32), no_pc = not a memory
                                // instruction
  std::uint32_t function;       // index in Module::functions
};
class Consumer {
 public:
  virtual ~Consumer() = default;
  // warp: global warp number (block index * warps per block + warp in block).
  virtual void consume(std::uint64_t warp, std::span<const Record> records,
                       std::span<const std::uint64_t> addresses) = 0;
};

struct FunctionalResult {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t blocks = 0;
};

struct FunctionalOptions {
  std::uint64_t max_warp_instructions = 0;  // 0 = unlimited; else Error(failure, "limit-instructions")
  Consumer* consumer = nullptr;
  const volatile bool* interrupt = nullptr;  // set by a signal handler: stops with Error(interrupted)
  std::uint64_t first_block = 0, block_count = ~std::uint64_t{0};
  std::uint64_t resident_blocks = 0;  // that may wait for others at once, as the GPU holds; 0 = all
  // Called with the counts so far whenever `tell_every` blocks have ended.
  std::function<void(const FunctionalResult&)> tell{};
  std::uint64_t tell_every = 1;
};

// Warps of a block take turns of so many instructions in functional runs.
inline constexpr std::uint64_t functional_turn = 256;

// Throws the error of a run that reached max_warp_instructions.
[[noreturn]] void over_instruction_limit(std::uint64_t limit);

// A functional run: blocks in order, one after another, except that a block which waits for another block is
// parked (exec/block_turns.h). Warps of a block take turns round-robin between barriers. Deterministic.
class FunctionalRun {
 public:
  FunctionalRun(const Launch& launch, const FunctionalOptions& options);
  ~FunctionalRun();
  // Runs until all blocks have ended (true), or until no block can go on before another kernel or the host
  // writes to memory (false); may then be called again.
  bool go_on();
  [[noreturn]] void report() const;  // go_on() said false: throws Fault(deadlock)
  const FunctionalResult& result() const;

 private:
  class Runner;
  std::unique_ptr<Runner> runner_;
};

// The whole run at once. Throws Fault(deadlock) if blocks are left that cannot go on.
FunctionalResult run_functional(const Launch& launch, const FunctionalOptions& options = {});

// "avx512", "avx2" or "baseline": the handler set in use. Overridden by SIMTLAB_ISA (tests, bench).
std::string_view instruction_set();

}  // namespace simtlab::exec
