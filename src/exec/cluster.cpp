#include "exec/cluster.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <bit>
#include <cstring>
#include <new>

#include "exec/outside.h"
#include "exec/state.h"

namespace simtlab::exec {
namespace {

std::uint32_t lanes_left(const Warp& w) {
  if (w.status == WarpStatus::exited) return 0;
  return w.splits != nullptr ? w.splits->alive : w.frames[0].mask;
}

}  // namespace

Cluster::Cluster(unsigned blocks, std::uint64_t bytes) : blocks_(blocks), bytes_(bytes) {
  void* const got = mmap(nullptr, blocks * ptx::cluster_stride, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(got);
}

Cluster::~Cluster() { munmap(base_, blocks_ * ptx::cluster_stride); }

void Cluster::restart(std::uint64_t number, unsigned threads) {
  // Others may have written to a block that never began.
  for (unsigned rank = 0; used_ && rank < blocks_; ++rank) std::memset(shared(rank), 0, bytes_);
  used_ = true;
  number_ = number;
  left_ = ended_ = 0;
  phase_ = 0;
  pending_ = expected_ = std::uint64_t{blocks_} * threads;
}

void Cluster::join(unsigned rank, Block::Impl& block) { members_[rank] = &block; }

bool Cluster::leave(unsigned rank) {
  members_[rank] = nullptr;
  left_ |= 1u << rank;
  ended_ |= 1u << rank;
  return left_ == (1u << blocks_) - 1;
}

void Cluster::complete() {
  ++phase_;
  expected_ = 0;
  for (unsigned rank = 0; rank < blocks_; ++rank) {
    if (members_[rank] == nullptr) continue;
    for (Warp& w : members_[rank]->warps) {
      w.cluster_arrived = 0;
      expected_ += static_cast<unsigned>(std::popcount(lanes_left(w)));
      if (w.status != WarpStatus::barrier || w.waits_at != cluster_barrier || w.cluster_awaits > phase_)
        continue;
      w.status = WarpStatus::ready;
      w.wait = nullptr;
    }
  }
  pending_ = expected_;
}

void Cluster::count_off(std::uint32_t lanes) {
  pending_ -= static_cast<unsigned>(std::popcount(lanes));
  if (lanes != 0 && pending_ == 0) complete();
}

void Cluster::arrive(Block::Impl& b, Warp& w, const XInst& x, std::uint32_t lanes) {
  if ((w.cluster_arrived & lanes) != 0) {
    const auto lane = static_cast<unsigned>(std::countr_zero(w.cluster_arrived & lanes));
    raise(b, *x.inst, Fault::Kind::illegal_instruction, "illegal-barrier",
          fmt::format("a thread arrives twice at the cluster's barrier without waiting in between: {} of {}",
                      thread_name(b, w.ctx.warp, lane), kernel_name(b, *x.inst)));
  }
  w.cluster_arrived |= lanes;
  w.cluster_awaits = phase_ + 1;
  count_off(lanes);
}

void Cluster::wait(Warp& w, const XInst& x, std::uint32_t lanes) const {
  if (w.cluster_awaits <= phase_) return;
  w.status = WarpStatus::barrier;
  w.waits_at = cluster_barrier;
  w.wait = &x;
  w.wait_mask = lanes;
}

void Cluster::exit(Block::Impl& b, Warp& w, std::uint32_t lanes) {
  bool all = true;
  for (const Warp& other : b.warps) all = all && (&other == &w || lanes_left(other) == 0);
  if (all && (lanes_left(w) & ~lanes) == 0) ended_ |= 1u << b.rank;
  count_off(lanes & ~w.cluster_arrived);
}

Clusters::Clusters(const Launch::Impl& launch, std::uint64_t bytes)
    : blocks_(static_cast<unsigned>(launch.params.cluster.count())),
      threads_(launch.threads),
      bytes_(bytes) {}
Clusters::~Clusters() = default;

Cluster* Clusters::join(Block::Impl& block, std::uint64_t number, unsigned rank) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Cluster>& at = open_[number];
  if (at == nullptr) {
    if (free_.empty()) free_.push_back(std::make_unique<Cluster>(blocks_, bytes_));
    at = std::move(free_.back());
    free_.pop_back();
    at->restart(number, threads_);
  }
  SIMTLAB_ASSERT(at->member(rank) == nullptr && !at->has_ended(rank), "a block of a cluster begins once");
  at->join(rank, block);
  return at.get();
}

void Clusters::leave(Cluster& cluster, unsigned rank) {
  const std::lock_guard lock(mutex_);
  if (!cluster.leave(rank)) return;
  const auto at = open_.find(cluster.number());
  free_.push_back(std::move(at->second));
  open_.erase(at);
}

void Clusters::close() {
  const std::lock_guard lock(mutex_);
  for (auto& [number, cluster] : open_) free_.push_back(std::move(cluster));
  open_.clear();
}

ClusterPlace place_in_cluster(const Dim3& grid, const Dim3& cluster, std::uint64_t block) {
  const Dim3 at = block_at(grid, block);
  const std::uint64_t across = grid.x / cluster.x, down = grid.y / cluster.y;
  return {at.x / cluster.x + across * (at.y / cluster.y + down * (at.z / cluster.z)),
          at.x % cluster.x + cluster.x * (at.y % cluster.y + cluster.y * (at.z % cluster.z))};
}

std::uint64_t block_by_clusters(const Dim3& grid, const Dim3& cluster, std::uint64_t i) {
  const std::uint64_t blocks = cluster.count();
  if (blocks == 1) return i;
  const Dim3 outer = block_at({grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z}, i / blocks);
  const Dim3 inner = block_at(cluster, i % blocks);
  const std::uint64_t x = std::uint64_t{outer.x} * cluster.x + inner.x,
                      y = std::uint64_t{outer.y} * cluster.y + inner.y,
                      z = std::uint64_t{outer.z} * cluster.z + inner.z;
  return x + grid.x * (y + grid.y * z);
}

}  // namespace simtlab::exec
