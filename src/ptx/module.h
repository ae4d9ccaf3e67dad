// A PTX module after parsing, checking and decoding. The executor loads it, and the runtime looks names up in
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ptx/inst.h"

namespace simtlab::machine {
struct Code;
}

namespace simtlab::ptx {

// Formal parameter of a kernel or function.
struct Param {
  std::string name;
  Type type = Type::none;    // element type; .b8 arrays are structs by value
  std::uint32_t offset = 0;  // in the parameter block (entries) or the frame (functions)
  std::uint32_t bytes = 0;
  std::uint32_t align = 1;
  Space pointee = Space::generic;  // .ptr .shared = OpenCL local-memory argument, .ptr .global ...
  bool is_pointer = false;
  std::uint32_t pointee_align = 1;
};

// A variable in global, const or shared space. Those declared in a function are named "function.variable".
struct Variable {
  std::string name;
  Space space = Space::global;  // global, constant, shared; texref etc. have `reference` set
  Type type = Type::b8;
  Type reference = Type::none;  // texref / samplerref / surfref
  std::uint64_t bytes = 0;
  std::uint32_t align = 1;
  bool external = false;  // .extern without definition
  bool managed = false;
  std::uint32_t line = 0, column = 0;  // of the name in the declaration
  std::vector<std::byte> initial;      // empty = zero
  struct Reloc {
    std::uint64_t offset;
    bool is_function;
    std::uint32_t symbol;
    std::int64_t addend;
    std::uint8_t bytes;
    bool generic;
    std::uint8_t shift = 0;
  };                          // `bytes` low bytes of (address + addend) >> shift
  std::vector<Reloc> relocs;  // addresses inside `initial`
  std::uint32_t shared_offset =
      0;  // shared: offset in the block's static shared memory, the same in all kernels that reach it.
          // .extern arrays (external, bytes = 0) are dynamic: they begin at Function::shared_bytes
  // Machine code: the variable is a part of another one (a constant bank), from this byte on
  std::int32_t within = -1;
  std::uint64_t within_offset = 0;
};

// .entry or .func, decoded.
struct Function {
  std::string name;
  bool is_entry = false;
  std::vector<Param> params;
  std::vector<Param> returns;
  std::vector<Inst> code;  // last instruction is always ret or exit
  std::vector<Constant> constants;
  std::vector<CallSite> call_sites;
  std::vector<std::vector<std::uint32_t>> branch_tables;  // brx.idx targets (pcs)
  // 32-bit register rows a warp needs for this frame (after slot colouring), even
  std::uint32_t reg_rows = 0;
  std::uint32_t pred_count = 0;
  // Local memory per thread for this frame: formals, .local variables, call .params
  std::uint32_t frame_bytes = 0;
  std::uint32_t shared_bytes =
      0;  // static shared memory of this kernel (entry: everything reachable); rounded up to the
          // alignment of the dynamic array that follows, if the kernel uses one
  std::uint32_t param_bytes = 0;  // entry: size of the parameter block
  std::uint32_t registers =
      0;  // estimate of physical registers per thread: most 32-bit values live at once, callees included,
          // plus register_overhead of ptx/liveness.h; predicates not counted, not rounded
  std::uint32_t max_call_depth = 0;  // 0 = no calls
  std::uint32_t total_reg_rows = 0;  // entry: rows of the deepest call chain
  std::uint32_t total_preds = 0;
  std::uint32_t total_frame_bytes = 0;           // entry: local bytes per thread of the deepest call chain
  std::uint32_t max_ntid[3] = {0, 0, 0};         // .maxntid, 0 = absent
  std::uint32_t req_ntid[3] = {0, 0, 0};         // .reqntid, 0 = absent
  std::uint32_t ntid_line = 0, ntid_column = 0;  // of .reqntid or .maxntid
  std::uint32_t req_cluster[3] = {0, 0, 0};      // .reqnctapercluster, 0 = absent
  std::uint32_t max_cluster_rank = 0;            // .maxclusterrank: blocks of a cluster at most; 0 = absent
  bool explicit_cluster = false;                 // .explicitcluster: launched with clusters only
  std::uint32_t max_nreg = 0;                    // .maxnreg, 0 = absent
  std::uint32_t min_nctapersm = 0;
  // The estimate without .maxnreg and .minnctapersm; `registers` is never above it
  std::uint32_t unlimited_registers = 0;
  std::uint32_t barriers = 0;  // highest barrier number used + 1
  std::uint32_t line = 0;      // of the definition
  // Whether LoadOptions::optimise replaced it, and if it could not, what was in the way
  bool optimised = false;
  std::string not_optimised;
  bool assembled = false;
  std::string not_assembled;               // what was in the way of LoadOptions::assemble
  std::shared_ptr<const Function> source;  // the PTX as it stands that assembled code was made of
  // Machine code: then `code` has one entry for each of its instructions, for models to read; null: PTX
  std::shared_ptr<const machine::Code> machine;
};

// Makes functions of a module complete when they are first needed.
class LateCode {
 public:
  virtual ~LateCode() = default;
  // Fills what depends on the code of this function: `code`, `constants`, `machine`, the rows and bytes of
  // its frame. May be called by several threads. Throws Error, each time, if the code cannot be executed.
  virtual void complete(std::uint32_t function) = 0;
  // Throws what complete() would, and keeps nothing.
  virtual void check(std::uint32_t function) = 0;
};

struct Module {
  std::string name;             // file name or "<image N>" for messages
  std::string version, target;  // texts of .version and .target
  unsigned address_size = 64;
  std::vector<Function> functions;
  std::vector<Variable> variables;
  std::map<unsigned, std::string> files;    // .file
  std::shared_ptr<const std::string> text;  // for carets in messages
  // Null: all functions are complete. Else what is known of the others is what their headers say (name,
  // parameters, shared memory, registers, limits of their blocks).
  std::shared_ptr<LateCode> late;
  bool allocates = false;  // a function of it calls malloc
  // Blocks of a cluster reach each other's shared memory: an address there says whose it is (cluster_shift).
  bool clusters = false;

  void complete(std::uint32_t function) const {
    if (late) late->complete(function);
  }
  void complete_all() const {
    for (std::uint32_t i = 0; late && i < functions.size(); ++i) late->complete(i);
  }
  // Throws what complete() would for the first function that cannot be executed, and keeps nothing.
  void check() const {
    for (std::uint32_t i = 0; late && i < functions.size(); ++i) late->check(i);
  }
  unsigned capability() const;  // of the target: 90 for sm_90a
  // A message about a place in the text, with the line.
  Diagnostic diagnostic(std::uint32_t line, std::uint32_t column, std::string message,
                        std::string hint = {}) const;
  const Function* find_function(std::string_view name) const;  // null if absent
  const Variable* find_variable(std::string_view name) const;
};

// Generic address windows (exec and cvta agree on these). Global and const addresses are themselves.
inline constexpr std::uint64_t shared_window = 0x0000'0001'0000'0000ull;  // + shared offset
inline constexpr std::uint64_t local_window = 0x0000'0002'0000'0000ull;   // + per-thread local offset
// + offset in the kernel's parameter block
inline constexpr std::uint64_t param_window = 0x0000'0003'0000'0000ull;
inline constexpr std::uint64_t window_bytes = 0x0000'0001'0000'0000ull;
// An address in the shared memory of a cluster's block: its rank from here on, the offset below.
inline constexpr unsigned cluster_shift = 24;
inline constexpr std::uint64_t cluster_stride = std::uint64_t{1} << cluster_shift;
// + 16 * function index: value of a function pointer
inline constexpr std::uint64_t function_handles = 0x0000'0004'0000'0000ull;

struct VirtualFunction;
// Replaces a kernel, one of the functions of a module, by better code that does what it does, before its
// registers get places. Functions that it calls may become part of it. False: it is as it was, and `why` says
// what was in the way.
using Optimiser = bool (*)(std::span<VirtualFunction> functions, std::uint32_t which, const Module& module,
                           std::string& why);

// Makes machine code of a kernel, after it was optimised. False: it is as it was, and `why` says why.
using MakeCode = std::function<bool(VirtualFunction& function, const Module& module, std::string& why)>;

// Kernels are optimised and assembled when Module::complete() asks for them; until then they are PTX.
struct LoadOptions {
  Optimiser optimise = nullptr;
  // Which build it is (base/own_binary.h), by which code is kept; empty if it turned out that there is none
  std::string (*optimiser_build)() = nullptr;
  std::string not_optimised;  // why there is no optimiser where there should be one
  MakeCode assemble;          // null: kernels stay PTX
  // Asked first, before a kernel is optimised: machine code of it that was made before
  MakeCode recall;
  bool reject_unsupported = true;  // false: unsupported instructions are decoded as traps (list ptx, tests)
};

// Parses, checks and decodes. Throws simtlab::Error: bad_input with file:line:column for text that is not
// PTX, unsupported (exit 4) listing every unsupported instruction of the module. Never gates on .version.
// Hostile input is bounded: nesting, identifier length, array sizes, instruction counts have limits with
// messages.
std::shared_ptr<const Module> load_module(std::string name, std::string text,
                                          const LoadOptions& options = {});

}  // namespace simtlab::ptx
