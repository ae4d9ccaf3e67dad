// Blocks of a cluster: shared memory that they reach from each other, and their barrier.
//
// The shadow of a cluster's shared memory is one: a block's part begins at its rank times a stride, so that
// all that looks at shared memory need not know whose it is.
#include <fmt/format.h>

#include <algorithm>

#include "check/watch.h"
#include "exec/cluster.h"

namespace simtlab::check {
namespace {

// All that had arrived at the barrier before it let all go has been noted.
void note_phase(const WatchedBlock& b) {
  if (b.cluster->phase == b.block->cluster->phase()) return;
  b.cluster->phase = b.block->cluster->phase();
  Races::cluster_met(*b.cluster->races);
}

}  // namespace

void Watch::begin_in_cluster(WatchedBlock& b, std::uint64_t number) {
  const std::uint64_t cluster = b.block->cluster->number();
  std::weak_ptr<WatchedCluster>& known = clusters_[cluster];
  std::shared_ptr<WatchedCluster> here = known.lock();
  if (here == nullptr) {
    here = std::make_shared<WatchedCluster>();
    here->races = checker_.races().shared_of_cluster(shared_end_);
    if (checker_.options().init) here->written.assign(shared_end_ / 64 + 1, 0);
    known = here;
  }
  b.cluster = std::move(here);
  checker_.races().begin_block(b.races, id_, number, launch_.warps, launch_.threads, cluster,
                               b.cluster->races);
}

std::uint64_t Watch::shadow_address(const WatchedBlock& b, std::uint64_t address) const {
  const std::uint64_t own = address - b.block->view.shared_first;
  if (own < launch_.shared_bytes) return b.block->rank * shared_stride_ + own;
  const std::uint64_t rank = address >> ptx::cluster_shift, offset = address % ptx::cluster_stride;
  // Where accesses outside of shared memory go on
  if (offset >= launch_.shared_bytes || rank >= launch_.params.cluster.count()) return shared_end_ + offset;
  return rank * shared_stride_ + offset;
}

const std::uint64_t* Watch::shadow_addresses(const WatchedBlock& b, std::uint32_t lanes,
                                             const std::uint64_t* addresses) {
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    shadow_addresses_[lane] = shadow_address(b, addresses[lane]);
  }
  return shadow_addresses_;
}

std::byte* Watch::shared_byte(const WatchedBlock& b, std::uint64_t at) const {
  if (b.cluster == nullptr) return b.block->view.shared + at;
  return b.block->cluster->shared(static_cast<unsigned>(at / shared_stride_)) + at % shared_stride_;
}

// Blocks of a cluster are resident together, but one may not have begun when another one does.
void Watch::look_at_others(WatchedBlock& b, const exec::Warp& w, CheckedFunction& f, std::uint32_t pc,
                           std::uint32_t lanes, const std::uint64_t* addresses) {
  if (!checker_.options().memory) return;
  const exec::Dim3 &grid = launch_.params.grid, &cluster = launch_.params.cluster;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t rank = addresses[lane] >> ptx::cluster_shift;
    if (rank == b.block->rank || rank >= cluster.count()) continue;
    const std::uint64_t other =
        exec::block_by_clusters(grid, cluster, b.block->cluster->number() * cluster.count() + rank);
    const unsigned thread = w.ctx.warp * exec::warp_size + lane;
    if (checker_.races().knows_of(b.races, thread, other)) continue;
    result::Finding* const found = checker_.findings().add("memory.cluster-start", {&f, pc});
    if (found == nullptr) return;
    found->message =
        "shared memory of another block of the cluster is used before anything says that the "
        "block has begun";
    found->accesses.push_back(
        checker_.access_of(f, pc, id_, b.races.block, thread, fmt::format("access to block {}", other)));
    found->missing = "no barrier of the cluster since the kernel's beginning";
    found->hint =
        "cluster.sync() before the first access to the shared memory of others, and another one before a "
        "block "
        "ends whose memory others use";
    return;
  }
}

void Watch::arrives_in_cluster(WatchedBlock& b, const exec::Warp& w, const exec::XInst& x,
                               std::uint32_t lanes) {
  const ptx::MemOrder order = x.inst->mods.order;
  note_phase(b);
  if (x.inst->mods.bar == ptx::BarMode::arrive)
    return checker_.races().arrive_in_cluster(b.races, w.ctx.warp, lanes, order != ptx::MemOrder::relaxed);
  WatchedWarp& watched = b.warps[w.ctx.warp];
  watched.in_cluster = lanes;
}

void Watch::behind_cluster_barrier(WatchedBlock& b, const exec::Warp& w) {
  WatchedWarp& watched = b.warps[w.ctx.warp];
  note_phase(b);
  checker_.races().go_on_in_cluster(b.races, w.ctx.warp, watched.in_cluster);
  watched.in_cluster = 0;
}

}  // namespace simtlab::check
