// Messages of faults: the thread, its place, and the allocation that lies nearest.
#include <fmt/format.h>

#include <algorithm>

#include "exec/state.h"

namespace simtlab::exec {
namespace {

std::string tuple(const Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

// ", source a.cu:7" if the PTX has .loc.
std::string source_of(const ptx::Module& module, const ptx::Inst& inst) {
  if (inst.source_line == 0) return {};
  const auto file = module.files.find(inst.file);
  return file == module.files.end() ? std::string{}
                                    : fmt::format(", source {}:{}", file->second, inst.source_line);
}

std::string describe_neighbour(const GlobalMemory& memory, std::uint64_t address, unsigned bytes) {
  const Allocation* near = memory.nearest(address);
  if (near == nullptr) return "nothing is allocated";
  const std::uint64_t end = near->address + near->bytes;
  std::string where;
  if (address >= end) {
    where = fmt::format("{} bytes after the end", address - end);
  } else if (address < near->address) {
    where = fmt::format("{} bytes before the start", near->address - address);
  } else {
    where = fmt::format("{} of the {} bytes accessed are beyond its end", address + bytes - end, bytes);
  }
  return fmt::format("the nearest allocation is {} of {} bytes at {:#x} ({})", near->what, near->bytes,
                     near->address, where);
}

std::string describe_cluster(const MemoryView& view, std::uint64_t address) {
  const std::uint64_t rank = address >> ptx::cluster_shift;
  const unsigned blocks = view.cluster->blocks();
  if (rank >= blocks)
    return fmt::format("there is no block {} in a cluster of {} block{}", rank, blocks,
                       blocks == 1 ? "" : "s");
  if (view.cluster->has_ended(static_cast<unsigned>(rank)))
    return fmt::format("block {} of the cluster has ended, and its shared memory with it", rank);
  return fmt::format("block {} of the cluster has {} bytes of shared memory, this is byte {}", rank,
                     view.shared_bytes, address % ptx::cluster_stride);
}

std::string describe_window(const MemoryView& view, ptx::Space space, std::uint64_t address) {
  switch (space) {
    case ptx::Space::shared:
      if (view.cluster != nullptr && view.cluster->blocks() > 1) return describe_cluster(view, address);
      return fmt::format("the block has {} bytes of shared memory", view.shared_bytes);
    case ptx::Space::local: return fmt::format("the thread has {} bytes of local memory", view.local_bytes);
    default: return fmt::format("the parameters are {} bytes", view.param_bytes);
  }
}

}  // namespace

namespace {

// Machine code has addresses where PTX has lines. An operation has the address of its instruction.
std::size_t pc_of(const ptx::Function& function, const ptx::Inst& inst) {
  return std::min<std::size_t>(inst.line / machine::word_bytes, function.code.size() - 1);
}

// Of PTX that machine code was made of; 0: it was not, or nobody knows.
std::uint32_t ptx_line_of(const ptx::Function& function, const ptx::Inst& inst) {
  const std::size_t pc = pc_of(function, inst);
  return function.assembled && pc < function.machine->ptx_lines.size() ? function.machine->ptx_lines[pc] : 0;
}

}  // namespace

Diagnostic diagnose(const ptx::Module& module, const ptx::Function& function, const ptx::Inst& inst,
                    std::string message, std::string hint) {
  if (!function.machine)
    return module.diagnostic(inst.line, inst.column, std::move(message), std::move(hint));
  if (const std::uint32_t line = ptx_line_of(function, inst); line != 0) {
    Diagnostic out = module.diagnostic(line, 1, std::move(message), std::move(hint));
    out.pos.column =
        static_cast<std::uint32_t>(std::min(out.text.find_first_not_of(" \t"), out.text.size())) + 1;
    return out;
  }
  Diagnostic out;
  out.message = std::move(message);
  out.hint = std::move(hint);
  out.pos.file = module.name;
  return out;
}

std::string thread_name(const Block::Impl& block, unsigned warp, unsigned lane) {
  return fmt::format("thread {} in block {}", tuple(thread_of(*block.launch, warp, lane)),
                     tuple(block.position));
}

std::string kernel_name(const Launch::Impl& launch, const ptx::Inst& inst) {
  const ptx::Module& module = *launch.module->module;
  const ptx::Function& kernel = *launch.entry->function;
  if (!kernel.machine)
    return fmt::format("kernel {} ({}:{}{})", kernel.name, module.name, inst.line, source_of(module, inst));
  const std::string source = source_of(module, kernel.code[pc_of(kernel, inst)]);
  if (const std::uint32_t line = ptx_line_of(kernel, inst); line != 0)
    return fmt::format("kernel {} ({}:{}{}, at 0x{:04x} of its machine code)", kernel.name, module.name, line,
                       source, machine::address_in_file(kernel.machine->generation, inst.line));
  return fmt::format("kernel {} ({} at 0x{:04x}{})", kernel.name, module.name,
                     machine::address_in_file(kernel.machine->generation, inst.line), source);
}

std::string whereabouts(const Block::Impl& block) {
  for (const Warp& w : block.warps) {
    if (w.status == WarpStatus::exited) continue;
    std::string text = fmt::format("warp {} of block {} in {}", w.ctx.warp, tuple(block.position),
                                   kernel_name(block, *w.code[w.pc].inst));
    std::uint32_t others = 0;
    for (std::uint32_t i = 0; i < w.depth; ++i) others |= w.stack[i].mask;
    if (w.splits != nullptr) others |= w.splits->alive;
    others &= ~w.active;
    if (others != 0)
      text +=
          fmt::format("; {} of its lanes run, {} wait for them", w.active_count, __builtin_popcount(others));
    return text;
  }
  return fmt::format("block {} of kernel {}", tuple(block.position), block.launch->entry->function->name);
}

void raise(const Block::Impl& block, const ptx::Inst& inst, Fault::Kind kind, std::string id,
           std::string message, std::string hint) {
  throw Fault(kind, std::move(id),
              diagnose(*block.module->module, *block.launch->entry->function, inst, std::move(message),
                       std::move(hint)));
}

namespace {

std::string name_access(const WarpCtx& ctx, const XInst& x, unsigned lane, unsigned bytes, bool writes) {
  const Block::Impl& block = block_of(ctx);
  const char* kind = x.inst->op == ptx::Op::atom || x.inst->op == ptx::Op::red ? "atomic"
                     : writes                                                  ? "write"
                                                                               : "read";
  return fmt::format("{} {} of {} bytes at address {:#x} by {} of {}", ptx::name_of(ctx.space), kind, bytes,
                     ctx.addresses[lane], thread_name(block, ctx.warp, lane), kernel_name(block, *x.inst));
}

std::string describe_place(const WarpCtx& ctx, unsigned lane, unsigned bytes) {
  const bool global = ctx.space == ptx::Space::global || ctx.space == ptx::Space::constant;
  return global ? describe_neighbour(*ctx.memory->global, ctx.addresses[lane], bytes)
                : describe_window(*ctx.memory, ctx.space, ctx.addresses[lane]);
}

}  // namespace

std::string describe_access(const WarpCtx& ctx, const XInst& x, unsigned lane, unsigned bytes, bool writes) {
  return fmt::format("Invalid {}: {}", name_access(ctx, x, lane, bytes, writes),
                     describe_place(ctx, lane, bytes));
}

void bad_access(WarpCtx& ctx, const XInst& x, unsigned lane, unsigned bytes, bool writes) {
  const Block::Impl& block = block_of(ctx);
  const MemoryView& view = *ctx.memory;
  const std::uint64_t address = ctx.addresses[lane];
  const bool global = ctx.space == ptx::Space::global || ctx.space == ptx::Space::constant;
  const std::string what = name_access(ctx, x, lane, bytes, writes);
  const Allocation* inside = global ? view.global->find(address, bytes) : nullptr;
  if (inside != nullptr && writes && inside->read_only) {
    raise(block, *x.inst, Fault::Kind::illegal_address, "illegal-address",
          fmt::format("Invalid {}: {} is read-only", what, inside->what));
  }
  const std::uint64_t limit = ctx.space == ptx::Space::shared  ? view.shared_bytes
                              : ctx.space == ptx::Space::local ? view.local_bytes
                                                               : view.param_bytes;
  const bool in_bounds = global                            ? inside != nullptr
                         : ctx.space == ptx::Space::shared ? shared_host(view, address, bytes) != nullptr
                                                           : address < limit && limit - address >= bytes;
  if (in_bounds) {
    raise(block, *x.inst, Fault::Kind::misaligned_address, "misaligned-address",
          fmt::format("Misaligned {}: the address is not a multiple of {}", what, bytes));
  }
  // A stack grows down from the end of local memory; below its beginning the address has wrapped around.
  const auto* const machine = block.launch->entry->function->machine.get();
  constexpr std::uint64_t wrapped = std::uint64_t{1} << 31;
  if (ctx.space == ptx::Space::local && machine != nullptr && machine->unknown_depth && address >= wrapped)
    raise(
        block, *x.inst, Fault::Kind::stack_overflow, "stack-overflow",
        fmt::format("Stack overflow: {}: functions are called deeper than the stack of {} bytes a thread "
                    "has room for",
                    what, limit),
        "cudaDeviceSetLimit(cudaLimitStackSize, BYTES) before the launch, or --stack 64KiB, makes it larger");
  const bool may_go_on = global || ctx.space == ptx::Space::shared;
  raise(block, *x.inst, Fault::Kind::illegal_address, "illegal-address",
        describe_access(ctx, x, lane, bytes, writes),
        may_go_on ? "--memory-errors report goes on: such loads read zeros, such stores are lost" : "");
}

void handle_trap(WarpCtx& ctx, const XInst& x) {
  const Block::Impl& block = block_of(ctx);
  const auto lane = static_cast<unsigned>(__builtin_ctz(ctx.mask));
  raise(block, *x.inst, Fault::Kind::trap, "trap",
        fmt::format("{} executed by {} of {}", ptx::name_of(x.inst->op), thread_name(block, ctx.warp, lane),
                    kernel_name(block, *x.inst)));
}

void handle_nothing(WarpCtx&, const XInst&) {}

}  // namespace simtlab::exec
