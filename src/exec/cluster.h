// Clusters: blocks that run side by side, reach each other's shared memory and meet at a barrier.
//
// The shared memories of a cluster lie behind one another, ptx::cluster_stride apart, so that an address with
// a rank in it (ptx/module.h) is an offset in them. What is not used of that room costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "exec/executor.h"

namespace simtlab::exec {

struct Warp;
struct XInst;

// In the place of a barrier's number.
inline constexpr unsigned cluster_barrier = 16;

class Cluster {
 public:
  // bytes: of a block's shared memory, with what lies behind it for the simulator
  Cluster(unsigned blocks, std::uint64_t bytes);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  unsigned blocks() const { return blocks_; }
  std::byte* shared(unsigned rank) const { return base_ + rank * ptx::cluster_stride; }
  bool has_ended(unsigned rank) const { return (ended_ >> rank & 1) != 0; }
  // Null: the block has not begun, or its place has another one.
  Block::Impl* member(unsigned rank) const { return members_[rank]; }

  // Of another cluster: memory is zero, nobody has arrived.
  void restart(std::uint64_t number, unsigned threads);
  std::uint64_t number() const { return number_; }
  void join(unsigned rank, Block::Impl& block);
  // True: nobody will come back to it.
  bool leave(unsigned rank);

  // The barrier. Lanes arrive, wait, exit; the last one lets the others go.
  void arrive(Block::Impl& block, Warp& warp, const XInst& x, std::uint32_t lanes);
  void wait(Warp& warp, const XInst& x, std::uint32_t lanes) const;
  void exit(Block::Impl& block, Warp& warp, std::uint32_t lanes);
  // Times that it has let all go.
  std::uint64_t phase() const { return phase_; }
  std::uint64_t arrived() const { return expected_ - pending_; }  // threads
  std::uint64_t expected() const { return expected_; }

 private:
  void complete();
  void count_off(std::uint32_t lanes);

  unsigned blocks_, left_ = 0, ended_ = 0;
  bool used_ = false;  // its memory may hold something
  std::uint64_t bytes_, number_ = 0, phase_ = 0, pending_ = 0, expected_ = 0;
  std::byte* base_ = nullptr;
  Block::Impl* members_[most_cluster_blocks] = {};
};

// Those of a launch, by number.
class Clusters {
 public:
  Clusters(const Launch::Impl& launch, std::uint64_t bytes);
  ~Clusters();
  Cluster* join(Block::Impl& block, std::uint64_t number, unsigned rank);
  void leave(Cluster& cluster, unsigned rank);
  // The launch is run once more: nothing is left of a run that ended early. No block of it may be there.
  void close();

 private:
  unsigned blocks_, threads_;
  std::uint64_t bytes_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Cluster>> open_;
  std::vector<std::unique_ptr<Cluster>> free_;
};

// Where a block of the grid is: which cluster, and its rank there.
struct ClusterPlace {
  std::uint64_t number = 0;
  unsigned rank = 0;
};
ClusterPlace place_in_cluster(const Dim3& grid, const Dim3& cluster, std::uint64_t block);
// The i-th block in an order that goes cluster by cluster.
std::uint64_t block_by_clusters(const Dim3& grid, const Dim3& cluster, std::uint64_t i);

}  // namespace simtlab::exec
