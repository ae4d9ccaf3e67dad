// Special registers as rows of each warp. Written when the warp or its block is set up; clocks just before
// they're read.
//
// %pm and %envreg read as 0, %nwarpid as the warps an SM holds.
#include "ptx/special.h"

#include <algorithm>

#include "exec/state.h"

namespace simtlab::exec {
namespace {

using ptx::Special;

bool changes_with_block(Special s) {
  switch (s) {
    case Special::ctaid_x:
    case Special::ctaid_y:
    case Special::ctaid_z:
    case Special::clusterid_x:
    case Special::clusterid_y:
    case Special::clusterid_z:
    case Special::cluster_ctaid_x:
    case Special::cluster_ctaid_y:
    case Special::cluster_ctaid_z:
    case Special::cluster_ctarank:
    case Special::warpid:
    case Special::smid: return true;
    default: return false;
  }
}

std::uint64_t per_block(const Block::Impl& b, const Warp& w, Special s) {
  const Dim3& cluster = b.launch->params.cluster;
  switch (s) {
    case Special::ctaid_x: return b.position.x;
    case Special::ctaid_y: return b.position.y;
    case Special::ctaid_z: return b.position.z;
    case Special::clusterid_x: return b.position.x / cluster.x;
    case Special::clusterid_y: return b.position.y / cluster.y;
    case Special::clusterid_z: return b.position.z / cluster.z;
    case Special::cluster_ctaid_x: return b.position.x % cluster.x;
    case Special::cluster_ctaid_y: return b.position.y % cluster.y;
    case Special::cluster_ctaid_z: return b.position.z % cluster.z;
    case Special::cluster_ctarank: return b.rank;
    case Special::warpid: return b.first_slot + w.ctx.warp;
    default: return b.sm;
  }
}

std::uint64_t per_launch(const Block::Impl& b, Special s) {
  const LaunchParams& p = b.launch->params;
  switch (s) {
    case Special::ntid_x: return p.block.x;
    case Special::ntid_y: return p.block.y;
    case Special::ntid_z: return p.block.z;
    case Special::nctaid_x: return p.grid.x;
    case Special::nctaid_y: return p.grid.y;
    case Special::nctaid_z: return p.grid.z;
    case Special::nclusterid_x: return p.grid.x / p.cluster.x;
    case Special::nclusterid_y: return p.grid.y / p.cluster.y;
    case Special::nclusterid_z: return p.grid.z / p.cluster.z;
    case Special::nwarpid: return p.max_warps_per_sm;
    case Special::nsmid: return p.sm_count;
    case Special::gridid: return p.grid_id;
    case Special::total_smem_size:
    case Special::aggr_smem_size: return b.launch->shared_bytes;
    case Special::dynamic_smem_size: return p.dynamic_shared_bytes;
    case Special::cluster_nctaid_x: return p.cluster.x;
    case Special::cluster_nctaid_y: return p.cluster.y;
    case Special::cluster_nctaid_z: return p.cluster.z;
    case Special::cluster_nctarank: return p.cluster.count();
    case Special::is_explicit_cluster: return p.explicit_cluster ? 1 : 0;
    default: return 0;
  }
}

std::uint64_t per_lane(const Block::Impl& b, const Warp& w, Special s, unsigned lane) {
  const std::uint32_t bit = 1u << lane;
  switch (s) {
    case Special::tid_x: return thread_of(*b.launch, w.ctx.warp, lane).x;
    case Special::tid_y: return thread_of(*b.launch, w.ctx.warp, lane).y;
    case Special::tid_z: return thread_of(*b.launch, w.ctx.warp, lane).z;
    case Special::laneid: return lane;
    case Special::lanemask_eq: return bit;
    case Special::lanemask_lt: return bit - 1;
    case Special::lanemask_le: return (bit - 1) | bit;
    case Special::lanemask_gt: return ~((bit - 1) | bit);
    case Special::lanemask_ge: return ~(bit - 1);
    default: return per_launch(b, s);
  }
}

void put(Warp& w, const SpecialRow& row, unsigned lane, std::uint64_t value) {
  std::byte* at = w.ctx.bases[2] + row.offset;
  if (row.wide) {
    reinterpret_cast<std::uint64_t*>(at)[lane] = value;
  } else {
    reinterpret_cast<std::uint32_t*>(at)[lane] = static_cast<std::uint32_t>(value);
  }
}

void put_all(Warp& w, const SpecialRow& row, std::uint64_t value) {
  for (unsigned lane = 0; lane < warp_size; ++lane) put(w, row, lane, value);
}

}  // namespace

Dim3 thread_of(const Launch::Impl& launch, unsigned warp, unsigned lane) {
  const Dim3& block = launch.params.block;
  const std::uint32_t linear = warp * warp_size + lane;
  return {linear % block.x, linear / block.x % block.y, linear / block.x / block.y};
}

void fill_special_rows(Block::Impl& b, Warp& w) {
  for (const SpecialRow& row : b.launch->specials->rows) {
    if (is_clock(row.special) || changes_with_block(row.special)) continue;
    for (unsigned lane = 0; lane < warp_size; ++lane) put(w, row, lane, per_lane(b, w, row.special, lane));
  }
}

void fill_block_rows(Block::Impl& b, Warp& w) {
  for (const SpecialRow& row : b.launch->specials->rows) {
    if (changes_with_block(row.special)) put_all(w, row, per_block(b, w, row.special));
  }
}

void fill_clock_rows(Block::Impl& b, Warp& w, std::uint64_t now) {
  const double nanoseconds = static_cast<double>(now) * 1e9 / b.launch->params.clock_hz;
  const auto timer = static_cast<std::uint64_t>(std::min(nanoseconds, 9e18));
  for (const SpecialRow& row : b.launch->specials->rows) {
    switch (row.special) {
      case Special::clock:
      case Special::clock64: put_all(w, row, now); break;
      case Special::clock_hi: put_all(w, row, now >> 32); break;
      case Special::globaltimer:
      case Special::globaltimer_lo: put_all(w, row, timer); break;
      case Special::globaltimer_hi: put_all(w, row, timer >> 32); break;
      default: break;
    }
  }
}

}  // namespace simtlab::exec
