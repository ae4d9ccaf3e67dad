// Races by the PTX memory model: two accesses to the same bytes by different threads, one of which writes,
// that nothing orders and that are not both strong with scopes that include each other.
//
// Ordered are: what a thread does itself; what comes before a barrier and after it, for those who take part;
// what comes before a release and after the acquire that has read it. Memory keeps for each word the last
// writer and who has read since (half.h); exact for launches whose only synchronisation is of whole blocks
// and whole warps. In the others several readers of a word are kept as a list (readers.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "check/clocks.h"
#include "check/half.h"
#include "check/instances.h"
#include "check/readers.h"
#include "check/shadow.h"
#include "check/sites.h"

namespace simtlab::check {

// Two accesses that race.
struct Race {
  enum class Why : std::uint8_t {
    unordered,  // weak, and nothing orders them
    scope,      // strong, but a scope is too small
    volatile_,  // strong for PTX; for CUDA C++ volatile orders nothing
    late,       // a copy that was not waited for
    unfenced,   // ordered if the thread had a fence behind what it has read of a release
  };
  Why why = Why::unordered;
  std::uint32_t site = 0, other_site = 0;
  std::uint64_t block = 0, other_block = 0;
  std::uint32_t launch = 0, other_launch = 0;
  unsigned thread = 0, other_thread = 0;
  Many other_many = Many::one;
  std::uint64_t address = 0;  // of the byte or word
  unsigned lane = 0;
  bool shared = false, writes = false, other_writes = false, same_block = false, same_warp = false;
  bool same_instruction = false;  // lanes of one warp, at once
  bool acquires = false;          // the kernel has fences, acquires, barriers of parts
  bool one_of_several = false;    // the other one is not meant, but others of `other_many` that are not known
};

// An instruction that is about to be executed.
struct Going {
  unsigned warp = 0;
  std::uint32_t lanes = 0;
  std::uint32_t site = 0;
  ptx::Space space = ptx::Space::global;  // global or shared
  const std::uint64_t* addresses = nullptr;
  unsigned bytes = 0;
};

// A copy that was under way.
struct EndedCopy {
  unsigned warp = 0, lane = 0;
  std::uint32_t late_site = 0, site = 0;
  ptx::Space space = ptx::Space::shared;
  std::uint64_t address = 0;
  unsigned bytes = 0;
};

class RaceSink {
 public:
  virtual ~RaceSink() = default;
  virtual void race(const Race& race) = 0;
};

class Races {
 public:
  struct Warp {
    std::uint32_t instance = 0;
    Time begin;  // of the instance
    std::uint32_t step = 0, synced = 0;
  };
  // What a thread's last fence released; what it has read and not acquired yet.
  struct Fenced {
    Clocks::Id knew = 0;
    Time before;
    std::uint32_t synced = 0;
    ptx::Scope scope = ptx::Scope::none;
    bool in_sequence = false;  // of all fences of that kind (fence.sc, __threadfence())
    friend bool operator==(const Fenced&, const Fenced&) = default;
  };
  // Scopes, the widest first: of the GPU, of a cluster, of a block.
  static constexpr unsigned scopes = 3;
  // At a location, by releases of one scope: of which block and cluster the last one was, and whether others
  // are among them.
  struct Tier {
    Clocks::Id clock = 0;
    std::uint64_t block = 0, cluster = 0;
    bool blocks = false, clusters = false;
  };
  using Released = std::array<Tier, scopes>;
  using Locations = std::unordered_map<std::uint64_t, Released>;
  // Shared memory: of a block, or of all blocks of a cluster behind one another.
  struct Shared {
    std::uint32_t first = 0;  // of the instances that use it
    std::size_t words = 0;
    std::vector<Half> writers, readers;            // by word
    std::vector<Half> byte_writers, byte_readers;  // by byte; empty until parts of words are touched
    std::vector<std::uint64_t> split;              // Cells::split
    Locations released;
    // The cluster's barrier: what those have left who have arrived, and what they had when it let all go.
    Clocks::Id arrived = 0, left = 0, done = 0, done_left = 0;
  };
  struct Arrived {
    Clocks::Id clock = 0, left = 0;
    std::vector<std::pair<unsigned, std::uint32_t>> waiting;  // warps and their lanes
  };
  // What a warp last looked at, all its lanes at one place: where it looks again and nothing has changed, all
  // has been said.
  struct Poll {
    std::uint32_t site = 0, lanes = 0, instance = 0;
    unsigned time = 0;
    std::uint64_t address = 0, releases = 0;
    std::array<Half, 4> writers{}, readers{};
  };
  // A block that has begun and not ended.
  struct Block {
    std::uint64_t block = 0, cluster = 0;
    std::uint32_t launch = 0, first = 0;  // first: of its instances
    std::uint32_t instance = 0, epoch = 0;
    Time begin;
    bool fine = false;  // releases, acquires, barriers for some
    std::vector<Warp> warps;
    std::shared_ptr<Shared> shared;
    // By thread: what it knows; what it has read of releases since its last fence, by the scope of the fence
    // that acquires it; and of that what a lock's compare-and-swap did not read, after which nobody leaves
    // out the fence
    std::vector<Clocks::Id> knows, flags;
    std::array<std::vector<Clocks::Id>, scopes> seen;
    std::vector<Fenced> fenced;
    // By thread: what fences of other threads released before a barrier that this one has passed, too. (All
    // __threadfence() are in one sequence: after the barrier an atomic of one thread releases it for all.)
    std::vector<Clocks::Id> left;
    bool has_left = false;
    std::vector<Poll> polls;  // by warp
    std::array<Arrived, 16> arrived;

    Block() = default;
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() {
      if (races != nullptr) std::erase(races->blocks_, this);
    }
    Races* races = nullptr;  // whose begin_block() it was given to; outlives it
  };

  // garbage: bytes of clocks from which on those that nobody needs are looked for.
  Races(Shadow& shadow, const Sites& sites, RaceSink& sink, std::size_t garbage = std::size_t{32} << 20)
      : shadow_(shadow), sites_(sites), sink_(sink), garbage_(garbage), collect_from_(garbage) {}

  // Nothing that ran before is under way any more, and all of it is ordered before what follows.
  void all_is_over();
  // before: launches that have ended before this one begins.
  std::uint32_t begin_launch(std::vector<std::uint32_t> before);
  void begin_block(Block& block, std::uint32_t launch, std::uint64_t number, unsigned warps, unsigned threads,
                   std::uint32_t shared_bytes, bool fine);
  // The same of a block in a cluster, whose shared memory has been there before.
  void begin_block(Block& block, std::uint32_t launch, std::uint64_t number, unsigned warps, unsigned threads,
                   std::uint64_t cluster, std::shared_ptr<Shared> shared);
  std::shared_ptr<Shared> shared_of_cluster(std::uint64_t bytes) const;
  // The cluster's barrier: lanes arrive; it has let all go; lanes that have waited go on.
  void arrive_in_cluster(Block& block, unsigned warp, std::uint32_t lanes, bool releases);
  static void cluster_met(Shared& shared);
  void go_on_in_cluster(Block& block, unsigned warp, std::uint32_t lanes);
  // Whether the lane knows of anything that the other block has done.
  bool knows_of(const Block& block, unsigned thread, std::uint64_t other) const;
  void access(Block& block, const Going& going);
  // Every warp of the block has arrived.
  void barrier(Block& block);
  // A barrier for a part of the block: a warp arrives (and waits); those who wait go on.
  void arrive(Block& block, unsigned number, unsigned warp, std::uint32_t lanes, bool waits);
  void go_on(Block& block, unsigned number);
  // alive: lanes of the warp that have not exited.
  void sync_warp(Block& block, unsigned warp, std::uint32_t lanes, std::uint32_t alive);
  void fence(Block& block, unsigned warp, std::uint32_t lanes, ptx::Scope scope, bool in_sequence);
  // A copy has ended: what its site did there is an access by another one, of now.
  void copy_ended(const Block& block, const EndedCopy& copy);
  // Lanes have waited for all of their copies, those that they had handed to barriers as well.
  void handed_ended(const Block& block, unsigned warp, std::uint32_t lanes, std::uint32_t late_site,
                    std::uint32_t site);
  bool lists_were_cut() const { return readers_.cut(); }

 private:
  struct Me;
  bool before(Half h, const Me& me) const;
  bool before_slowly(Half h, std::uint32_t lanes, const Me& me) const;
  bool known(Clocks::Id knows, Half h, std::uint32_t lanes, const Me& me) const;
  bool awaited(Half h, const Me& me) const;
  static Cells cells_of(Shared& shared);
  static Cells byte_cells_of(Shared& shared);
  void end_copy(Half& h, Half late, Half now);
  void check(Half h, const Me& me, std::uint64_t address, bool other_writes);
  void check_one(Half h, std::uint32_t lanes, const Me& me, std::uint64_t address, bool other_writes);
  Half merge(Half old, const Me& me, std::uint32_t lanes);
  bool same_block(Half h, const Me& me) const;
  bool same_cluster(Half h, const Me& me) const;
  void begin(Block& block, std::uint32_t launch, std::uint64_t number, unsigned warps, unsigned threads,
             bool fine);
  bool is_list(Half h) const { return many_of(h) == Many::grid && instances_.at(instance_of(h)).fine; }
  void read(Half& writer, Half& reader, const Me& me, std::uint64_t address);
  void write(Half& writer, Half& reader, const Me& me, std::uint64_t address);
  bool observes(Half writer, const Me& me) const;
  void touch(Cells cells, std::uint64_t at, const Me& me, std::uint64_t address);
  static void split(Cells words, Cells bytes, std::uint64_t word);
  void touch_bytes(Cells words, Cells bytes, std::uint64_t offset, unsigned count, const Me& me,
                   std::uint64_t address);
  void touch_lane(Cells words, Cells bytes, std::uint64_t offset, unsigned count, const Me& me,
                  std::uint64_t address);
  bool touch_row(Cells words, std::uint64_t first, unsigned count, unsigned wide, const Me& me) const;
  bool written_before(Cells words, std::uint64_t offset, unsigned bytes, std::uint64_t end,
                      const Me& me) const;
  Me me_of(const Block& block, const Going& going) const;
  bool may_poll(const Block& block, const Going& going, const Site& site) const;
  bool polls_again(const Block& block, const Going& going, Cells words, unsigned now) const;
  void note_poll(Block& block, const Going& going, Cells words, unsigned now) const;
  void synchronise(Block& block, const Going& going);
  Clocks::Id acquired(const Block& block, const Released& there, unsigned scope) const;
  void release(const Block& block, Tier& tier, unsigned scope, Clocks::Id clock) const;
  void synchronise(Block& block, Locations& locations, const Site& site, unsigned warp, unsigned lane,
                   std::uint64_t address);
  Clocks::Id snapshot(const Block& block, unsigned warp, std::uint32_t lanes, Clocks::Id knew) const;
  Clocks::Id released_by(const Block& block, unsigned warp, std::uint32_t lanes, const Fenced& fenced);
  Clocks::Id left_by(const Block& block, unsigned warp, std::uint32_t lanes);
  Clocks::Id known_to(const Block& block, unsigned warp, std::uint32_t lanes);
  void step(Block& block, unsigned warp);
  void collect();

  Shadow& shadow_;
  const Sites& sites_;
  RaceSink& sink_;
  Instances instances_;
  mutable Clocks clocks_;
  std::vector<Block*> blocks_;  // that have begun, and may have ended
  std::size_t garbage_, collect_from_;
  Readers readers_;
  Locations released_;          // in global memory
  std::uint64_t releases_ = 0;  // how often a location has changed
  std::uint32_t low_ = 1;       // instances below are ordered before all that runs
  std::uint32_t launches_ = 0;
  std::map<std::uint32_t, std::vector<std::uint32_t>> before_;  // by launch, in order
};

}  // namespace simtlab::check
