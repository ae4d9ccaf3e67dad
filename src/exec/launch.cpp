// Launch: checks what the hardware's front end would check and sizes the state of a block.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/memory.h"
#include "exec/outside.h"
#include "exec/state.h"
#include "machine/forms.h"
#include "machine/launch_state.h"

namespace simtlab::exec {
namespace {

constexpr unsigned max_threads = 1024;
constexpr std::uint32_t max_grid_x = 0x7fffffff, max_grid_yz = 65535, max_block_z = 64;
constexpr std::uint64_t max_shared_bytes =
    16ull << 20;  // far above any device; the gpu layer knows the device's limit
constexpr std::uint64_t max_state_bytes = 2ull << 30;  // registers and local memory of a block, on the host

[[noreturn]] void refuse(const std::string& id, const ptx::Function& f, const std::string& what,
                         std::string hint = {}) {
  throw Error(ExitCode::bad_input, "launch-" + id, fmt::format("launch of kernel {}: {}", f.name, what),
              std::move(hint));
}

std::string text_of(const Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

// A block that .reqntid or .maxntid forbids; the message points at the directive.
[[noreturn]] void refuse_block(const ptx::Module& module, const ptx::Function& f, const std::string& what) {
  throw Error(
      ExitCode::bad_input, "launch-block",
      module.diagnostic(f.ntid_line, f.ntid_column, fmt::format("launch of kernel {}: {}", f.name, what)));
}

void check_dimensions(const LaunchParams& p, const ptx::Module& module, const ptx::Function& f) {
  const Dim3 &g = p.grid, &b = p.block;
  if (g.x == 0 || g.y == 0 || g.z == 0) refuse("grid", f, fmt::format("grid {} has no blocks", text_of(g)));
  if (g.x > max_grid_x || g.y > max_grid_yz || g.z > max_grid_yz) {
    refuse("grid", f,
           fmt::format("grid {} exceeds {}x{}x{}", text_of(g), max_grid_x, max_grid_yz, max_grid_yz));
  }
  if (b.x == 0 || b.y == 0 || b.z == 0)
    refuse("block", f, fmt::format("block {} has no threads", text_of(b)));
  if (b.x > max_threads || b.y > max_threads || b.z > max_block_z || b.count() > max_threads) {
    refuse("block", f,
           fmt::format("block {} exceeds {} threads or {}x{}x{}", text_of(b), max_threads, max_threads,
                       max_threads, max_block_z));
  }
  const Dim3 required{f.req_ntid[0], f.req_ntid[1], f.req_ntid[2]};
  const Dim3 wanted{std::max(required.x, 1u), std::max(required.y, 1u), std::max(required.z, 1u)};
  if (required.x != 0 && !(b == wanted)) {
    refuse_block(
        module, f,
        fmt::format("block {} is not {}, which the kernel requires (.reqntid)", text_of(b), text_of(wanted)));
  }
  const std::uint64_t most =
      Dim3{f.max_ntid[0], std::max(f.max_ntid[1], 1u), std::max(f.max_ntid[2], 1u)}.count();
  if (f.max_ntid[0] != 0 && b.count() > most) {
    refuse_block(module, f,
                 fmt::format("block {} has more than the {} threads that the kernel allows (.maxntid)",
                             text_of(b), most));
  }
}

void check_cluster(LaunchParams& p, const ptx::Function& f) {
  const Dim3 required{f.req_cluster[0], std::max(f.req_cluster[1], 1u), std::max(f.req_cluster[2], 1u)};
  Dim3& c = p.cluster;
  if (required.x != 0) {
    if (p.explicit_cluster && !(c == required))
      refuse("cluster", f,
             fmt::format("clusters of {} blocks are not {}, which the kernel requires (.reqnctapercluster)",
                         text_of(c), text_of(required)));
    c = required;
    p.explicit_cluster = true;
  }
  if (f.explicit_cluster && !p.explicit_cluster)
    refuse("cluster", f, "the kernel has to be launched with clusters (.explicitcluster)",
           "cudaLaunchKernelEx with cudaLaunchAttributeClusterDimension");
  if (c.x == 0 || c.y == 0 || c.z == 0)
    refuse("cluster", f, fmt::format("a cluster of {} has no blocks", text_of(c)));
  const std::uint64_t most =
      f.max_cluster_rank == 0 ? most_cluster_blocks : std::min(f.max_cluster_rank, most_cluster_blocks);
  if (c.x > most || c.y > most || c.z > most || c.count() > most)
    refuse("cluster", f, fmt::format("a cluster of {} exceeds {} blocks", text_of(c), most));
  if (p.grid.x % c.x != 0 || p.grid.y % c.y != 0 || p.grid.z % c.z != 0)
    refuse("cluster", f,
           fmt::format("grid {} is no multiple of the cluster {}", text_of(p.grid), text_of(c)));
}

// The kernel's own instructions and the instructions of every function that it might call.
bool has_convergent(const Launch::Impl& l) {
  if (l.entry->function->machine) return l.entry->convergent;
  return l.entry->convergent || std::ranges::any_of(l.module->functions, [](const BoundFunction& f) {
           return f.convergent && !f.function->is_entry;
         });
}

bool has_fetches(const Launch::Impl& l) {
  return l.entry->fetches || std::ranges::any_of(l.module->functions, [](const BoundFunction& f) {
           return f.fetches && !f.function->is_entry;
         });
}

void size_state(Launch::Impl& l, const ptx::Function& f) {
  l.may_part = !has_convergent(l);
  l.fetches = has_fetches(l);
  l.frames = f.max_call_depth + 1;
  l.warp_rows = std::max(f.total_reg_rows, f.reg_rows);
  l.warp_preds = std::max(f.total_preds, f.pred_count) + 2 * l.frames;
  const bool deep = f.machine && f.machine->unknown_depth;
  l.local_bytes =
      (std::uint64_t{std::max(deep ? l.params.stack_bytes : f.total_frame_bytes, f.frame_bytes)} + 15) / 16 *
      16;
  // Masks shrink from entry to entry: at most 32 joins and 32 waiting sides, and one entry a call.
  l.stack_entries = 4 * warp_size + 2 * l.frames;
  if (l.local_bytes > most_local_bytes) {
    refuse("local-memory", f,
           fmt::format("it needs {} bytes of local memory a thread; the limit is {}", l.local_bytes,
                       most_local_bytes));
  }
}

// Constant bank 0: what `params.params` becomes for machine code.
std::vector<std::byte> bank_of(const Launch::Impl& l, const LaunchParams& p) {
  const machine::LaunchState state{
      .block = {p.block.x, p.block.y, p.block.z},
      .grid = {p.grid.x, p.grid.y, p.grid.z},
      .shared_window = ptx::shared_window,
      .local_window = ptx::local_window,
      .parameter_window = ptx::param_window,
      .grid_id = p.grid_id,
      .low_windows = !l.entry->function->assembled,
      .stack = static_cast<std::uint32_t>(l.local_bytes),
      .dynamic_shared = p.dynamic_shared_bytes,
      .shared = l.shared_bytes,
      .sm_count = p.sm_count,
  };
  return machine::launch_bank(l.entry->function->machine->generation, state, p.params);
}

void fill_launch_rows(Launch::Impl& l) {
  const BoundFunction& entry = *l.entry;
  if (entry.launch_rows.empty()) return;
  l.constants = AlignedBytes(entry.constant_bytes);
  std::memcpy(l.constants.data(), entry.constants.data(), entry.constant_bytes);
  for (const LaunchRow& row : entry.launch_rows) {
    const std::size_t width = row.wide ? 8 : 4;
    if (row.offset + width > l.parameter_bytes) continue;  // zero
    std::uint64_t value = 0;
    std::memcpy(&value, l.parameter_block.data() + row.offset, width);
    fill_row(l.constants.data() + row.row, value, row.wide, row.halves);
  }
}

void delay_results(Launch::Impl& l) {
  const ptx::Function& f = *l.entry->function;
  if (!f.machine)
    throw Error(
        ExitCode::unsupported, "results-ptx",
        fmt::format("kernel {} is PTX, which has no control information that says when results come", f.name),
        "results come late in machine code only: a cubin, --code machine, or --lowering machine");
  if (!machine::has_control(f.machine->generation))
    throw Error(ExitCode::unsupported, "results-ptx",
                fmt::format("kernel {} is machine code of sm_{}, whose hardware waits for results by itself",
                            f.name, f.machine->generation),
                "results come late in machine code of Maxwell and later GPUs");
  l.late.plan = std::make_unique<DelayPlan>(f);
  l.late.code = l.entry->code;
  for (XInst& x : l.late.code) x.kind |= flag_delayed;
}

std::uint64_t warp_state_bytes(const Launch::Impl& l) {
  return std::uint64_t{l.warp_rows} * row_bytes + l.warp_preds * 4ull + l.specials->bytes +
         l.local_bytes * warp_size + sizeof(Warp) +
         std::min(l.stack_entries, first_stack_entries) * sizeof(StackEntry) + l.frames * sizeof(Frame);
}

}  // namespace

Launch::Launch(const LaunchParams& params, GlobalMemory& memory) : impl_(std::make_unique<Impl>()) {
  Impl& l = *impl_;
  l.params = params;
  SIMTLAB_ASSERT(params.module != nullptr, "a launch has a module");
  l.module = &params.module->impl();
  l.memory = &memory;
  SIMTLAB_ASSERT(l.module->memory == &memory, "a launch uses the memory of its module");
  l.entry = &params.module->bound(params.function);
  l.specials = l.entry->function->machine ? &l.entry->specials : &l.module->specials;
  const ptx::Function& f = *l.entry->function;
  if (!f.is_entry) refuse("entry", f, "it is a device function, not a kernel (.entry)");
  if (params.params.size() != f.param_bytes) {
    refuse("parameters", f,
           fmt::format("{} bytes of parameters given, {} expected", params.params.size(), f.param_bytes));
  }
  check_dimensions(params, *l.module->module, f);
  check_cluster(l.params, f);
  std::uint64_t shared = std::uint64_t{f.shared_bytes} + params.dynamic_shared_bytes;
  // Compilers read the last words by a vector: a block has shared memory in larger portions.
  if (constexpr std::uint64_t widest = 16; f.machine && !f.assembled)
    shared = (shared + widest - 1) / widest * widest;
  if (shared > max_shared_bytes)
    refuse("shared", f, fmt::format("{} bytes of shared memory a block", shared));
  l.shared_bytes = static_cast<std::uint32_t>(shared);
  l.threads = static_cast<unsigned>(params.block.count());
  l.warps = (l.threads + warp_size - 1) / warp_size;
  size_state(l, f);
  if (warp_state_bytes(l) * l.warps > max_state_bytes) {
    refuse("state", f,
           fmt::format("registers and local memory of a block take {} bytes of host memory",
                       warp_state_bytes(l) * l.warps),
           "launch smaller blocks");
  }
  // A block that is launched without a cluster is one of its own.
  if (l.params.cluster.count() > 1 || l.module->module->clusters) {
    if (l.bytes_of_shared() > ptx::cluster_stride)
      refuse("shared", f, fmt::format("{} bytes of shared memory a block of a cluster", shared));
    l.clusters = std::make_unique<Clusters>(l, l.bytes_of_shared());
  }
  std::vector<std::byte> bank;
  std::span<const std::byte> block = params.params;
  if (f.machine) block = bank = bank_of(l, params);
  l.parameter_bytes = block.size();
  l.parameter_block = AlignedBytes(block.size());
  if (!block.empty()) std::memcpy(l.parameter_block.data(), block.data(), block.size());
  l.params.params = {l.parameter_block.data(), block.size()};
  fill_launch_rows(l);
  if (params.results != Results::early) delay_results(l);
  if (!(l.params.clock_hz > 0)) l.params.clock_hz = 1e9;
}

Launch::~Launch() = default;
std::uint64_t Launch::Impl::bytes_of_shared() const {
  return memory->outside() == nullptr ? shared_bytes : shared_room(shared_bytes) + OutsideAccesses::room;
}
const ptx::Function& Launch::function() const { return *impl_->entry->function; }
const ptx::Module& Launch::module() const { return *impl_->module->module; }
Dim3 Launch::grid() const { return impl_->params.grid; }
Dim3 Launch::block() const { return impl_->params.block; }
Dim3 Launch::cluster() const { return impl_->params.cluster; }
unsigned Launch::cluster_blocks() const { return static_cast<unsigned>(impl_->params.cluster.count()); }
std::uint64_t Launch::block_in_order(std::uint64_t i) const {
  return block_by_clusters(impl_->params.grid, impl_->params.cluster, i);
}
std::uint64_t Launch::block_count() const { return impl_->params.grid.count(); }
unsigned Launch::threads_per_block() const { return impl_->threads; }
unsigned Launch::warps_per_block() const { return impl_->warps; }
std::uint32_t Launch::shared_bytes() const { return impl_->shared_bytes; }
std::uint32_t Launch::local_bytes() const { return static_cast<std::uint32_t>(impl_->local_bytes); }
GlobalMemory& Launch::memory() const { return *impl_->memory; }
const LaunchParams& Launch::params() const { return impl_->params; }
std::uint64_t Launch::state_bytes_per_block() const {
  return sizeof(Block::Impl) + impl_->shared_bytes + impl_->warps * warp_state_bytes(*impl_);
}

}  // namespace simtlab::exec
