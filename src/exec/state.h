// The inside of LoadedModule, Launch and Block, shared by the files of the interpreter. Not for other
// folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "exec/barrier_count.h"
#include "exec/cluster.h"
#include "exec/delays.h"
#include "exec/executor.h"
#include "exec/interpreter.h"
#include "exec/isa.h"
#include "exec/late_arrivals.h"
#include "exec/memops/view.h"
#include "exec/outside.h"
#include "exec/splits.h"
#include "exec/warp.h"
#include "machine/code.h"
#include "ptx/machine_ops.h"

namespace simtlab::exec {

inline constexpr std::uint32_t row_bytes = 128;
inline constexpr std::uint32_t scratch_bytes = 512;  // a sink of any width
inline constexpr unsigned barrier_count = 16;
// A texture reference variable has no memory; this is what its address reads as.
// It fits into 32 bits, which is what machine code keeps of a handle.
inline constexpr std::uint64_t texref_handles = 0x8000'0000ull;  // + variable index

// Zeroed memory, 64-byte aligned, that the host commits when it is touched.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t bytes) : raw_(static_cast<std::byte*>(std::calloc(bytes + 64, 1))) {
    if (raw_ == nullptr) throw std::bad_alloc();
    const auto address = reinterpret_cast<std::uintptr_t>(raw_.get());
    data_ = raw_.get() + ((address + 63) / 64 * 64 - address);
  }
  std::byte* data() const { return data_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> raw_;
  std::byte* data_ = nullptr;
};

// Where a block's room for accesses outside of shared memory begins (exec/outside.h): an offset in it.
inline std::uint64_t shared_room(std::uint64_t shared_bytes) { return (shared_bytes + 127) / 128 * 128; }

struct BoundArg {
  bool in_register = false;
  std::uint8_t register_bytes = 0;
  RowRef row = 0;
  std::uint32_t caller_offset = 0, callee_offset = 0, bytes = 0;
};
struct BoundCall {
  bool indirect = false;
  std::uint8_t pointer_bytes = 8;
  RowRef pointer = 0;
  std::uint32_t function = 0;
  std::vector<std::uint32_t> candidates;
  std::vector<BoundArg> args, returns;
};

// An instruction of machine code.
struct MachineStep {
  const XInst* operations = nullptr;
  std::uint32_t count = 0;
  std::uint32_t memory = machine::no_operation;  // which operation accesses memory
  const machine::Action* action = nullptr;
};

// A constant row whose value is known at launch.
struct LaunchRow {
  std::uint32_t row = 0;     // offset in the constants
  std::uint32_t offset = 0;  // in constant bank 0
  bool wide = false;
  bool halves = false;  // of 64 bits: in two rows
};

struct SpecialRow {
  ptx::Special special = ptx::Special::zero;
  bool wide = false;
  std::uint32_t offset = 0;
};

// The special registers that code reads, each a row of its warp.
struct SpecialRows {
  std::vector<SpecialRow> rows;
  std::uint32_t bytes = 0;

  // Offset of the row of a special register, allotted when first used.
  std::uint32_t row(ptx::Special special, bool wide);
};

struct BoundFunction {
  const ptx::Function* function = nullptr;
  std::vector<XInst> code;
  AlignedBytes constants;  // rows, then operand lists
  std::vector<BoundCall> calls;
  std::size_t constant_bytes = 0;
  std::vector<LaunchRow> launch_rows;
  // Machine code
  std::vector<XInst> operations;
  std::vector<MachineStep> steps;
  SpecialRows specials;     // of this function alone, which calls no other
  bool convergent = false;  // has instructions that lanes execute together: barriers, shuffles, votes ...
  bool fetches = false;     // has atomics with a result in memory that other blocks see
};

struct LoadedModule::Impl {
  std::shared_ptr<const ptx::Module> module;
  GlobalMemory* memory = nullptr;
  Isa isa = Isa::baseline;
  std::vector<std::uint64_t> addresses;                // of variables; 0: none
  std::vector<std::optional<Texture>> bound_textures;  // by variable
  std::vector<BoundFunction> functions;
  SpecialRows specials;  // of all functions of PTX
  // Functions of machine code are bound when they are first launched
  std::mutex binding;
  std::vector<bool> is_bound;
};

// exec/bind.cpp: XInsts, constant rows and calls of one function. Adds a diagnostic for each instruction
// without a handler.
BoundFunction bind_function(LoadedModule::Impl& module, const ptx::Function& function,
                            std::vector<Diagnostic>& problems);
// A constant row: words, 64-bit values (wide), or a row of their low words and one of the high ones (halves).
void fill_row(std::byte* row, std::uint64_t value, bool wide, bool halves);
// Value of a constant of the function: a number, an address, a function handle.
std::uint64_t constant_value(const LoadedModule::Impl& module, const ptx::Constant& constant);
// Message, position, source line.
Diagnostic diagnose(const ptx::Module& module, const ptx::Function& function, const ptx::Inst& inst,
                    std::string message, std::string hint = {});

struct Launch::Impl {
  LaunchParams params;  // spans and module stay valid; params.params refers to `parameter_block`
  AlignedBytes parameter_block;
  std::uint64_t parameter_bytes = 0;
  AlignedBytes constants;  // of the entry, if some are known at launch
  const LoadedModule::Impl* module = nullptr;
  const BoundFunction* entry = nullptr;
  const SpecialRows* specials = nullptr;
  GlobalMemory* memory = nullptr;
  unsigned threads = 0, warps = 0;
  std::uint32_t shared_bytes = 0;
  std::uint32_t warp_rows = 0;  // register rows of a warp: deepest chain of calls
  std::uint32_t warp_preds = 0;
  std::uint32_t frames = 1;
  // Of a block, with the room behind it for accesses outside of it.
  std::uint64_t bytes_of_shared() const;
  std::uint64_t local_bytes = 0;    // a thread
  std::uint32_t stack_entries = 0;  // a warp, at most
  // Constant rows of the entry
  std::byte* entry_constants() const {
    return entry->launch_rows.empty() ? entry->constants.data() : constants.data();
  }
  std::unique_ptr<Clusters> clusters;  // null: each block is one
  bool may_part = false;               // no instruction needs the lanes of a warp together: see check_spin()
  bool fetches = false;                // it, or a function that it might call
  // Results::late: when they come, and the entry's code with flag_delayed
  struct Late {
    std::unique_ptr<DelayPlan> plan;  // null: results are there at once
    std::vector<XInst> code;
  } late;
  const XInst* entry_code() const { return late.plan == nullptr ? entry->code.data() : late.code.data(); }
};

// Divergence: lanes of `mask` run from pc until they reach rpc.
struct StackEntry {
  std::uint32_t pc = 0, rpc = ptx::no_pc, mask = 0;
};

inline constexpr std::uint32_t first_stack_entries = 8;

struct Frame {
  std::uint32_t function = 0;
  std::uint32_t site = 0;        // call site in the caller
  std::uint32_t mask = 0;        // lanes that called and have not exited
  std::uint32_t pending = 0;     // lanes of an indirect call with other targets, still to be called
  std::uint32_t stack_base = 0;  // bottom entry of this frame
  std::uint32_t row = 0, pred = 0, offset = 0;  // where its registers, predicates and local memory begin
};

struct Warp {
  WarpCtx ctx;
  // What each step reads lies in one line of the host's cache: most warps are cold when their turn comes.
  const XInst* code = nullptr;
  const ptx::Function* function = nullptr;  // of the running frame
  // The top of the divergence stack; `stack` holds what lies below.
  std::uint32_t pc = 0, rpc = ptx::no_pc, active = 0;
  unsigned active_count = 0;
  std::uint32_t depth = 0;  // entries below the top
  // Since when lanes loop while others wait for them: see check_spin().
  std::uint32_t divergent_steps = 0;
  std::uint32_t turn = 0;  // machine code: instructions of the running split, in steps of those who count
  WarpStatus status = WarpStatus::ready;
  Splits* splits = nullptr;       // machine code; null: PTX
  std::uint32_t frame_depth = 0;  // index of the running frame
  std::uint32_t spin_samples = 0, spin_active = 0, spin_depth = 0;
  std::uint32_t waits_at = 0;  // barrier
  // At the cluster's barrier: lanes that have arrived, and the phase whose end they may wait for
  std::uint32_t cluster_arrived = 0;
  std::uint64_t cluster_awaits = 0;
  const XInst* wait = nullptr;  // the barrier instruction it waits at
  std::uint32_t wait_mask = 0;
  StackEntry* stack = nullptr;
  std::uint32_t stack_room = 0;  // entries of `stack`; grow_stack() makes room for the deepest divergence
  Frame* frames = nullptr;
  std::byte* rows = nullptr;  // of the first frame
  std::uint32_t* preds = nullptr;
  Delays* delays = nullptr;  // null: results are there at once

  Frame& frame() { return frames[frame_depth]; }
};

struct Barrier : BarrierCount {
  std::uint32_t popc = 0;
  bool all = true, any = false;
};

struct Block::Impl {
  explicit Impl(const Launch::Impl& launch);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const Launch::Impl* launch = nullptr;
  const LoadedModule::Impl* module = nullptr;
  MemoryView view;
  AlignedBytes registers, preds, specials, scratch{scratch_bytes}, shared, local;
  std::vector<Warp> warps;
  // The first few of each warp, which is all that most need
  std::vector<StackEntry> stacks;
  std::vector<std::unique_ptr<StackEntry[]>> deep_stacks;  // of warps that needed more
  std::vector<Frame> frames;
  std::vector<Splits> splits;
  std::vector<Delays> delays;
  std::unique_ptr<LateArrivals> late;
  Barrier barriers[barrier_count];
  std::uint32_t exited = 0;  // warps, one bit each
  std::uint64_t index = 0;
  Dim3 position;  // of the block in the grid, from 0
  Cluster* cluster = nullptr;
  unsigned rank = 0;  // in the cluster
  unsigned sm = 0, first_slot = 0;
  std::uint64_t generation = 0;   // of the memory when bounds were cached
  std::uint16_t texel_bytes = 0;  // of the last texture fetch
  Step step;
  alignas(64) std::uint64_t addresses[32] = {};
  alignas(64) std::uint64_t addresses2[32] = {};
  std::uint32_t locks[ptx::shared_locks / 32] = {};

  void reset(std::uint64_t block_index, unsigned sm, unsigned first_warp_slot);
  void join_cluster();
  void refresh_bounds() {
    if (generation != launch->memory->generation()) forget();
  }
  void forget();
};

// exec/special.cpp
void fill_special_rows(Block::Impl& block, Warp& warp);  // after construction
void fill_block_rows(Block::Impl& block, Warp& warp);    // special registers that change with the block
void fill_clock_rows(Block::Impl& block, Warp& warp, std::uint64_t now);
Dim3 thread_of(const Launch::Impl& launch, unsigned warp, unsigned lane);  // coordinates from 0

// exec/control.cpp. Lanes that execute; status, pc, stack and frames are up to date afterwards.
void set_mask(WarpCtx& ctx, std::uint32_t mask);
std::uint32_t execute(Block::Impl& block, Warp& warp, const XInst& x, std::uint64_t now);
// Pops the stack entries that reconverge at the warp's pc.
void settle(Warp& warp);
// Called every spin_period divergent instructions of a warp. Lanes that loop while other lanes wait for them
// may in turn wait for a step of the waiting lanes (which hold a lock, for example). After spin_limit looks
// at equal lanes in an equal place the waiting lanes go first: the two groups then reconverge one level
// further out. Done only in launches without instructions that lanes execute together (may_part): a barrier
// or a shuffle behind the loop must find all lanes.
inline constexpr std::uint32_t spin_period = 256, spin_limit = 128;
void check_spin(Warp& warp);
// Lets the waiting lanes run before the running ones, from now on; false: no lane waits within the function.
bool let_others_go(Warp& warp);

// exec/flow.cpp: machine code
void start_splits(Warp& w);
void let_next_split_go(Warp& w);  // if there is one
void flow(Block::Impl& block, Warp& warp, const XInst& x, std::uint32_t lanes);
void run_operations(WarpCtx& ctx, const XInst& x);
void run_uniform(WarpCtx& ctx, const XInst& x);  // for all lanes
void run_guarded(WarpCtx& ctx, const XInst& x);  // operations that have guards of their own
inline bool runs_operations(Handler fn) {
  return fn == run_operations || fn == run_uniform || fn == run_guarded;
}
// exec/delays.cpp: what the warp's next instruction may count on is there; executes it
void deliver_results(Block::Impl& block, Warp& warp);
std::uint32_t execute_delayed(Block::Impl& block, Warp& warp, std::uint64_t now);
// exec/system_call.cpp: the machine::SystemCall whose function is at this address; 0: none
inline constexpr unsigned system_call_count = 5;
unsigned system_call_of(std::uint64_t address);
void call_system(Warp& warp, const XInst& x, unsigned call, std::uint32_t lanes);

// exec/barrier.cpp
// votes: lanes whose predicate is true, if the instruction's own does not say it for all of them.
void arrive(Block::Impl& block, Warp& warp, const XInst& x, std::uint32_t lanes,
            const std::uint32_t* votes = nullptr);
void leave(Block::Impl& block, Warp& warp);       // the warp has exited
bool wait_for_cluster(const Block::Impl& block);  // a warp waits for other blocks at a barrier
[[noreturn]] void report_deadlock(const Block::Impl& block);

// exec/block_turns.cpp: how many blocks may be resident, in whole clusters; 0: all.
std::uint64_t whole_clusters(const Launch::Impl& launch, std::uint64_t resident);
// exec/spin.cpp: Block::stuck()
bool stuck(Block::Impl& block, std::uint32_t steps, std::vector<Stuck>& who);
// exec/spin_report.cpp: where a block is in its grid, from 0
Dim3 block_at(const Dim3& grid, std::uint64_t index);

// exec/fault.cpp
std::string thread_name(const Block::Impl& block, unsigned warp,
                        unsigned lane);  // "thread (0,0,0) in block (0,0,0)"
std::string kernel_name(const Launch::Impl& launch,
                        const ptx::Inst& inst);  // "kernel k (a.ptx:3, source a.cu:7)"
inline std::string kernel_name(const Block::Impl& block, const ptx::Inst& inst) {
  return kernel_name(*block.launch, inst);
}
std::string whereabouts(const Block::Impl& block);
// An access of one lane that no allocation holds, and the nearest one.
std::string describe_access(const WarpCtx& ctx, const XInst& x, unsigned lane, unsigned bytes, bool writes);
[[noreturn]] void raise(const Block::Impl& block, const ptx::Inst& inst, Fault::Kind kind, std::string id,
                        std::string message, std::string hint = {});
inline Block::Impl& block_of(const WarpCtx& ctx) { return *static_cast<Block::Impl*>(ctx.block); }

// exec/buffered.cpp: the address in a lane's operand of a memory instruction, offset included, as it stands
// there.
std::uint64_t address_of(const WarpCtx& ctx, const XInst& x, unsigned side, unsigned lane);
// The memory instruction would read or write a line that a deferred atomic of the same SM will change.
bool awaits_atomic(const Warp& warp, const XInst& x);
// The same of machine code, whose address is found first.
bool machine_awaits_atomic(Warp& warp, const XInst& x);

// exec/generic.cpp: host address of bytes of shared memory, of the block's or of another one of its cluster;
// null: they lie in none.
std::byte* shared_host(const MemoryView& view, std::uint64_t address, std::uint64_t bytes);
// exec/generic.cpp: bytes at a generic address as lane `lane` sees it; false: outside of every memory.
bool read_generic(const WarpCtx& ctx, unsigned lane, std::uint64_t address, std::byte* out,
                  std::size_t bytes);
// A string of at most `limit` bytes; nullopt: it starts or runs outside of every memory.
std::optional<std::string> read_string(const WarpCtx& ctx, unsigned lane, std::uint64_t address,
                                       std::size_t limit);

}  // namespace simtlab::exec
