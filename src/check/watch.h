// What is looked at while a launch runs: each access, each barrier, each value that nobody wrote.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "check/checker.h"
#include "check/races.h"
#include "exec/state.h"

namespace simtlab::check {

// An instruction of a warp that names the lanes that take part, and has not seen all of them.
struct Members {
  std::uint32_t mask = 0, arrived = 0;
  std::uint32_t pc = 0;
  const CheckedFunction* function = nullptr;
};

// A copy under way.
struct Copy {
  // To shared memory; or in bulk out of it, which reads there and writes to global memory
  enum class Kind : std::uint8_t { in, out_read, out_write };
  Kind kind = Kind::in;
  std::uint32_t group = 0;  // of its thread, of that kind
  unsigned lane = 0;
  std::uint32_t pc = 0;
  CheckedFunction* function = nullptr;
  std::uint64_t address = 0;
  unsigned bytes = 0;
  bool held = false;  // memory gets the value when the copy ends
  std::array<std::byte, 16> value{};
};

// Where a value came from that nobody wrote.
struct Origin {
  CheckedFunction* function = nullptr;
  std::uint32_t pc = 0;
  ptx::Space space = ptx::Space::global;
  std::uint64_t address = 0;
  unsigned lane = 0;
};

struct WatchedWarp {
  Members members;
  std::vector<Copy> copies;
  // Groups that are closed, by lane: of cp.async, of bulk copies
  std::uint32_t groups[exec::warp_size] = {}, bulk_groups[exec::warp_size] = {};
  // cp.async of which some arrive by themselves, at barriers that these lanes handed them to
  std::vector<std::pair<CheckedFunction*, std::uint32_t>> handed;
  std::uint32_t handed_by = 0;
  std::vector<std::uint32_t> unwritten;  // by register row: lanes that hold what nobody wrote
  // Lanes whose register (or predicate) is not written, or made of such; empty: there are none
  std::vector<std::uint32_t> unset, unset_preds;
  bool any_unwritten = false;
  bool waits_at_patch = false, passed_patch = false;
  std::uint32_t in_cluster = 0;  // lanes that wait at the cluster's barrier
  Origin origin;                 // of the last one
};

// The last ordinary store to a word of shared memory; of blocks whose kernel copies from there in bulk.
struct OrdinaryStore {
  std::uint32_t thread = 0, site = 0, when = 0;  // when: 0: none
};

// Of the blocks of a cluster together: their shared memory, one behind the other, and what is known of it.
struct WatchedCluster {
  std::shared_ptr<Races::Shared> races;
  std::vector<std::uint64_t> written;  // a bit a byte
  std::uint64_t phase = 0;             // of the cluster's barrier
};

struct WatchedBlock {
  std::unique_ptr<exec::Block::Impl> block;
  Races::Block races;
  std::shared_ptr<WatchedCluster> cluster;                   // null: the block is alone
  std::vector<std::uint64_t> shared_written, local_written;  // a bit a byte; of a cluster: its own
  std::vector<WatchedWarp> warps;
  std::vector<OrdinaryStore> ordinary;      // by word of shared memory; or empty
  std::vector<std::uint32_t> proxy_fences;  // by thread: when its last fence.proxy.async was
  std::uint32_t ordinary_stores = 0;        // so far
  // Barriers of a part of the block that somebody has arrived at, before the instruction
  std::uint32_t open_parts = 0;
  int whole = -1;  // the barrier of the whole block that a warp arrives at
};

// Of one launch.
class Watch final : public RaceSink {
 public:
  Watch(Checker& checker, const exec::Launch::Impl& launch, std::uint32_t id);

  // Copies write when they are waited for.
  void set_late_copies(bool late) { late_copies_ = late; }
  CheckedFunction& function(std::uint32_t index);
  void begin(WatchedBlock& b, std::uint64_t number);
  // Before the lanes of ctx.mask execute a memory instruction, and behind it.
  void before(WatchedBlock& b, exec::Warp& w, const exec::XInst& x, CheckedFunction& f, std::uint32_t pc);
  void behind(WatchedBlock& b, exec::Warp& w, const exec::XInst& x, CheckedFunction& f, std::uint32_t pc);
  // Before the lanes of ctx.mask execute a fence, a barrier of the warp, ...
  void hook(WatchedBlock& b, exec::Warp& w, const exec::XInst& x, CheckedFunction& f, std::uint32_t pc);
  // Before an instruction of a warp that holds what nobody wrote.
  void use(WatchedBlock& b, exec::Warp& w, const exec::XInst& x, CheckedFunction& f, std::uint32_t pc,
           std::uint32_t lanes);
  // Of --nan: before and behind an instruction of which makes_numbers() is true.
  static bool makes_numbers(const ptx::Inst& inst);
  void before_number(exec::Warp& w, const exec::XInst& x, std::uint32_t lanes);
  void number(WatchedBlock& b, exec::Warp& w, const exec::XInst& x, CheckedFunction& f, std::uint32_t pc,
              std::uint32_t lanes);
  // Before and behind a barrier of the block.
  void arrives(WatchedBlock& b, exec::Warp& w, const exec::XInst& x, CheckedFunction& f, std::uint32_t pc,
               std::uint32_t lanes);
  void has_arrived(WatchedBlock& b);
  // The warp goes on, perhaps behind the barrier of its cluster.
  void goes_on(WatchedBlock& b, exec::Warp& w) {
    if (b.warps[w.ctx.warp].in_cluster != 0) [[unlikely]]
      behind_cluster_barrier(b, w);
  }
  void exits(WatchedBlock& b, exec::Warp& w, std::uint32_t lanes);
  void calls(WatchedBlock& b, exec::Warp& w, const exec::XInst& x, std::uint32_t lanes);
  // The launch has failed.
  void fault(const exec::Fault& fault);

  void race(const Race& race) override;
  // Lanes that look at a source: of selp those that take it.
  static std::uint32_t lanes_that_read(const exec::Warp& w, const exec::XInst& x, unsigned source);

 private:
  // cluster.cpp: of blocks that reach each other's shared memory
  void begin_in_cluster(WatchedBlock& b, std::uint64_t number);
  void arrives_in_cluster(WatchedBlock& b, const exec::Warp& w, const exec::XInst& x, std::uint32_t lanes);
  void behind_cluster_barrier(WatchedBlock& b, const exec::Warp& w);
  // Of the cluster's shared memory, as the shadow of it is laid out
  std::uint64_t shadow_address(const WatchedBlock& b, std::uint64_t address) const;
  std::uint64_t shared_at(const WatchedBlock& b, std::uint64_t address) const {
    return b.cluster == nullptr ? address : shadow_address(b, address);
  }
  // Bytes of a block's part, where there are several; else 0
  std::uint64_t place_in_cluster() const { return shared_end_ == shared_stride_ ? 0 : shared_stride_; }
  const std::uint64_t* shadow_addresses(const WatchedBlock& b, std::uint32_t lanes,
                                        const std::uint64_t* addresses);
  std::byte* shared_byte(const WatchedBlock& b, std::uint64_t shadow_address) const;
  void look_at_others(WatchedBlock& b, const exec::Warp& w, CheckedFunction& f, std::uint32_t pc,
                      std::uint32_t lanes, const std::uint64_t* addresses);
  std::vector<std::uint64_t>& shared_written(WatchedBlock& b) const {
    return b.cluster != nullptr ? b.cluster->written : b.shared_written;
  }
  struct Now {
    WatchedBlock* block = nullptr;
    exec::Warp* warp = nullptr;
    const exec::XInst* x = nullptr;
    CheckedFunction* function = nullptr;
    std::uint32_t pc = 0;
    const exec::Look* look = nullptr;
  };
  void look_at(WatchedBlock& b, exec::Warp& w, const exec::XInst& x, CheckedFunction& f, std::uint32_t pc,
               ptx::Space space, std::uint32_t lanes, const std::uint64_t* addresses, const exec::Look& look);
  std::uint32_t lanes_outside(const exec::Warp& w, ptx::Space space, const std::uint64_t* addresses,
                              std::uint32_t lanes) const;
  // side: 1: what cp.async reads
  void outside(exec::Warp& w, std::uint32_t lanes, unsigned side = 0);
  // A register that the thread has not written decides something, or is an address.
  void unset_use(WatchedBlock& b, const exec::Warp& w, CheckedFunction& f, std::uint32_t pc, unsigned lane,
                 bool address);
  void use_unset(WatchedBlock& b, exec::Warp& w, const exec::XInst& x, CheckedFunction& f, std::uint32_t pc,
                 std::uint32_t lanes);
  // What nobody wrote is used, by an instruction of a thread; address: as one.
  void unwritten_use(WatchedBlock& b, const exec::Warp& w, const Origin& origin, CheckedFunction& f,
                     std::uint32_t pc, unsigned lane, bool address);
  bool holds_all(ptx::Space space, std::uint64_t high, unsigned bytes) const;
  std::uint32_t unwritten_lanes(WatchedBlock& b, const exec::Warp& w, ptx::Space space, std::uint32_t lanes,
                                const std::uint64_t* addresses, unsigned bytes, const exec::Look& look);
  void note_written(WatchedBlock& b, const exec::Warp& w, ptx::Space space, std::uint32_t lanes,
                    const std::uint64_t* addresses, unsigned bytes, const exec::Look& look, bool value);
  std::uint64_t* written_bits(WatchedBlock& b, const exec::Warp& w, ptx::Space space, unsigned lane,
                              std::uint64_t address, unsigned bytes, std::uint64_t& first);
  void members(WatchedBlock& b, exec::Warp& w, CheckedFunction& f, std::uint32_t pc, std::uint32_t mask,
               std::uint32_t lanes, bool syncs);
  void members_missing(WatchedBlock& b, exec::Warp& w, std::uint32_t still_here);
  void behind_bulk(WatchedBlock& b, exec::Warp& w, const exec::XInst& x, CheckedFunction& f,
                   std::uint32_t pc);
  void bulk_piece(WatchedBlock& b, exec::Warp& w, CheckedFunction& f, std::uint32_t pc, unsigned lane,
                  std::uint64_t shared, std::uint64_t global, bool load, exec::Look& look);
  void look_at_ordered(WatchedBlock& b, const exec::Warp& w, const ptx::Inst& inst, CheckedFunction& f,
                       std::uint32_t pc, std::uint32_t lanes, const std::uint64_t* addresses);
  void note_ordinary(WatchedBlock& b, const exec::Warp& w, CheckedFunction& f, std::uint32_t pc,
                     std::uint32_t lanes, const std::uint64_t* addresses, unsigned bytes);
  void check_proxies(WatchedBlock& b, const exec::Warp& w, CheckedFunction& f, std::uint32_t pc,
                     unsigned lane, std::uint64_t shared);
  std::byte* copied_to(WatchedBlock& b, std::uint64_t address, unsigned bytes) const;
  void keep_overwritten(WatchedBlock& b, const exec::Warp& w, const exec::XInst& x);
  // All but the last `left` groups of these kinds (a bit each) have ended. all_groups: of those that are in
  // no group, too.
  static constexpr std::uint32_t all_groups = ~0u;
  static constexpr std::uint32_t bit(Copy::Kind kind) { return 1u << static_cast<unsigned>(kind); }
  void end_copies(WatchedBlock& b, exec::Warp& w, std::uint32_t lanes, std::uint32_t left,
                  std::uint32_t kinds);
  void leave_copies(WatchedBlock& b, const exec::Warp& w, std::uint32_t lanes);
  void hand_copies(WatchedBlock& b, exec::Warp& w, std::uint32_t lanes);
  void end_copy(WatchedBlock& b, exec::Warp& w, const Copy& copy, SiteKind by);
  void bulk_group(WatchedBlock& b, exec::Warp& w, const ptx::Inst& inst, CheckedFunction& f);
  std::string lane_value(const exec::Warp& w, const exec::XInst& x, unsigned lane) const;
  std::string memory_value(const ptx::Inst& inst, bool shared, std::uint64_t address) const;

  Checker& checker_;
  const exec::Launch::Impl& launch_;
  std::uint32_t id_;
  exec::LookHandler look_;
  std::vector<CheckedFunction*> functions_;  // by index in the module
  bool fine_ = false;
  // Bytes of a block's part of the shadow of shared memory, and of all of it
  std::uint64_t shared_stride_ = 0, shared_end_ = 0;
  std::unordered_map<std::uint64_t, std::weak_ptr<WatchedCluster>> clusters_;
  std::uint64_t shadow_addresses_[exec::warp_size] = {};
  std::uint32_t arrivals_ = 0;  // barriers at which warps arrive without waiting
  Now now_;
  // in_order_: there is memory that comes and goes in the order of streams
  bool late_copies_ = false, copies_out_in_bulk_ = false, in_order_ = false;
  std::array<std::array<std::byte, 16>, exec::warp_size> overwritten_{};  // by the copies of a warp at hand
  double operand_[3][exec::warp_size] = {};
  unsigned operands_ = 0;
};

}  // namespace simtlab::check
