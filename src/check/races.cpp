#include "check/races.h"

#include <algorithm>

namespace simtlab::check {

// Who is about to touch memory, in the words of a cell.
struct Races::Me {
  const Block* block = nullptr;
  Half half = 0;         // of this lane
  std::uint32_t low = 0;  // instances below are ordered before it
  std::uint32_t instance = 0;
  unsigned thread = 0, lane = 0, epoch_time = 0, synced_time = 0;
  Time synced;  // over the warp's whole life
  const Site* site = nullptr;
  std::uint32_t lanes = 0;  // that touch these bytes together
  bool shared = false, fine = false;
};

namespace {

constexpr unsigned warp_lanes = 32;

// The scope of one includes the thread of the other.
bool includes(ptx::Scope scope, bool same_block) {
  return same_block || (scope != ptx::Scope::cta && scope != ptx::Scope::cluster);
}

unsigned time_in(const Time& begin, std::uint32_t epoch, std::uint32_t step) {
  if (epoch == begin.epoch) return step < begin.step ? 0 : step - begin.step;
  return (epoch - begin.epoch) << step_bits | step;
}

}  // namespace

void Races::all_is_over() {
  if (!instances_.forget()) shadow_.forget_cells();
  low_ = instances_.next();
  clocks_.clear();
  readers_.clear();
  released_.clear();
}

std::uint32_t Races::begin_launch() { return ++launches_; }

void Races::begin_block(Block& b, std::uint32_t launch, std::uint64_t number, unsigned warps, unsigned threads,
                        std::uint32_t shared_bytes, bool fine) {
  b.block = number;
  b.launch = launch;
  b.epoch = 0;
  b.begin = {};
  b.instance = b.first = instances_.add({number, launch, {}, fine});
  b.warps.assign(warps, {b.instance, {}, 0, 0});
  b.fine = fine;
  const std::size_t words = (shared_bytes + 3) / 4;
  if (b.shared.size() != words) {
    b.shared.assign(words, {});
    b.shared_bytes.clear();
  }
  if (!fine) return;
  b.knows.assign(threads, 0);
  b.seen.assign(threads, 0);
  b.fenced.assign(threads, {});
  b.released.clear();
  b.arrived.fill({});
}

// ---- order

bool Races::same_block(Half h, const Me& me) const {
  const std::uint32_t instance = instance_of(h);
  if (instance == me.instance) return true;
  const Instance& i = instances_.at(instance);
  return i.launch == me.block->launch && i.block == me.block->block;
}

inline bool Races::before(Half h, const Me& me) const {
  const std::uint32_t instance = instance_of(h);
  if (instance < me.low) return true;
  if (instance == me.instance && many_of(h) != Many::grid) {
    const unsigned time = time_of(h);
    if (time < me.epoch_time) return !sites_.at(site_of(h)).late;
    if (thread_of(h) / warp_lanes == me.thread / warp_lanes && many_of(h) != Many::block &&
        time < me.synced_time)
      return !sites_.at(site_of(h)).late;
    if (many_of(h) == Many::one && thread_of(h) == me.thread) return !sites_.at(site_of(h)).late;
    if (!me.fine) return false;
  }
  return before_slowly(h, ~0u, me);
}

bool Races::before_slowly(Half h, std::uint32_t lanes, const Me& me) const {
  if (instance_of(h) < me.low) return true;
  const Instance& i = instances_.at(instance_of(h));
  if (i.launch != me.block->launch) return false;
  const Many many = many_of(h);
  if (many == Many::grid || sites_.at(site_of(h)).late) return false;
  const Time time = instances_.time_of(h);
  const unsigned warp = thread_of(h) / warp_lanes;
  if (many == Many::one) lanes = 1u << thread_of(h) % warp_lanes;
  if (i.block == me.block->block) {
    if (time.epoch < me.block->epoch) return true;
    const bool same_warp = warp == me.thread / warp_lanes && many != Many::block;
    if (same_warp && time < me.synced) return true;
    if (same_warp && lanes == 1u << me.lane) return true;
  }
  if (!me.fine) return false;
  const Clocks::Id knows = me.block->knows[me.thread];
  if (knows == 0) return false;
  if (many == Many::block) return clocks_.knows(knows, i.launch, i.block, Known::all_warps, 0, time);
  std::uint32_t others = lanes;
  if (i.block == me.block->block && warp == me.thread / warp_lanes) others &= ~(1u << me.lane);
  return clocks_.knows(knows, i.launch, i.block, warp, others, time);
}

// ---- verdicts

void Races::check_one(Half h, std::uint32_t lanes, const Me& me, std::uint64_t address, bool other_writes) {
  const Site& other = sites_.at(site_of(h));
  const Instance& i = instances_.at(instance_of(h));
  const bool same = i.launch == me.block->launch && i.block == me.block->block;
  Race::Why why = other.late ? Race::Why::late : Race::Why::unordered;
  if (other.strong && me.site->strong && other.bytes == me.site->bytes) {
    if (!includes(other.scope, same) || !includes(me.site->scope, same))
      why = Race::Why::scope;
    else if ((other.volatile_ && !me.site->atomic) || (me.site->volatile_ && !other.atomic))
      why = Race::Why::volatile_;
    else
      return;
  }
  Race race;
  race.why = why;
  race.site = site_of(me.half), race.other_site = site_of(h);
  race.block = me.block->block, race.other_block = i.block;
  race.launch = me.block->launch, race.other_launch = i.launch;
  race.thread = me.thread;
  race.other_many = many_of(h);
  race.other_thread = race.other_many == Many::one
                          ? thread_of(h)
                          : thread_of(h) / warp_lanes * warp_lanes + static_cast<unsigned>(__builtin_ctz(lanes));
  race.address = address;
  race.lane = me.lane;
  race.shared = me.shared;
  race.writes = me.site->writes;
  race.other_writes = other_writes;
  race.same_block = same;
  race.same_warp = same && thread_of(h) / warp_lanes == me.thread / warp_lanes && race.other_many < Many::block;
  race.same_instruction = race.same_warp && race.site == race.other_site &&
                          (h ^ me.half) >> instance_shift == 0 && time_of(h) == time_of(me.half);
  if (race.other_thread == race.thread && same && !other.late) {
    // Of several lanes this one is the lowest: another one is meant.
    if (race.other_many == Many::one) return;
    const std::uint32_t others = lanes & ~(1u << me.lane);
    if (others == 0) return;
    race.other_thread = thread_of(h) / warp_lanes * warp_lanes + static_cast<unsigned>(__builtin_ctz(others));
  }
  sink_.race(race);
}

void Races::check(Half h, const Me& me, std::uint64_t address, bool other_writes) {
  if (before(h, me)) return;
  if (is_list(h)) {
    for (Readers::Id list = list_of(h); list != 0; list = readers_.at(list).next) {
      const Readers::Node& node = readers_.at(list);
      if (!before_slowly(node.half, node.lanes, me))
        check_one(node.half, node.lanes, me, address, other_writes);
    }
    return;
  }
  check_one(h, ~0u, me, address, other_writes);
}

// ---- cells

// What stands for both. Nothing orders `old` before this access.
Half Races::merge(Half old, const Me& me, std::uint32_t lanes) {
  if (me.fine) {
    Readers::Id list = 0;
    if (is_list(old)) {
      // Those that are ordered before this access stand for nothing that it does not stand for.
      std::vector<const Readers::Node*> keep;
      for (Readers::Id at = list_of(old); at != 0; at = readers_.at(at).next)
        if (!before_slowly(readers_.at(at).half, readers_.at(at).lanes, me)) keep.push_back(&readers_.at(at));
      if (keep.size() == readers_.at(list_of(old)).length) {
        list = list_of(old);
      } else {
        std::vector<Readers::Node> nodes;
        for (const Readers::Node* n : keep) nodes.push_back(*n);
        for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) list = readers_.add(list, n->half, n->lanes);
      }
    } else {
      const std::uint32_t others =
          many_of(old) == Many::one ? 1u << thread_of(old) % warp_lanes : ~0u;
      list = readers_.add(0, with_many(old, Many::warp), others);
    }
    list = readers_.add(list, with_many(me.half, Many::warp), lanes);
    return list_half(me.instance, list);
  }
  if (is_list(old)) return me.half;  // of another launch beside this one: what it held is checked, and lost
  // A weak access stands for both: it races with more. Of strong ones that of the smaller scope.
  Half out = me.half;
  const Site &other = sites_.at(site_of(old)), &mine = *me.site;
  if ((mine.strong && !other.strong) || (mine.strong && other.strong && other.scope < mine.scope))
    out = (out & ~Half{most_sites - 1}) | site_of(old);
  if (many_of(old) == Many::grid || !same_block(old, me)) return with_many(out, Many::grid);
  if (many_of(old) <= Many::warp && thread_of(old) / warp_lanes == me.thread / warp_lanes)
    return with_many(out, Many::warp);
  return with_many(out | Half{most_steps} << time_shift, Many::block);
}

inline void Races::read(Cell& cell, const Me& me, std::uint64_t address) {
  check(cell.writer, me, address, true);
  cell.reader = before(cell.reader, me) ? me.half : merge(cell.reader, me, me.lanes);
}

void Races::write(Cell& cell, const Me& me, std::uint64_t address) {
  if (!before(cell.writer, me)) {
    check(cell.writer, me, address, true);
    // Strong ones beside each other all count; else the last one.
    const bool both = me.site->strong && (is_list(cell.writer) || sites_.at(site_of(cell.writer)).strong);
    cell.writer = both ? merge(cell.writer, me, me.lanes) : me.half;
  } else {
    cell.writer = me.half;
  }
  if (before(cell.reader, me)) {
    cell.reader = 0;
    return;
  }
  check(cell.reader, me, address, false);
  if (!me.site->strong) cell.reader = 0;
}

inline void Races::touch(Cell& cell, const Me& me, std::uint64_t address) {
  if (me.site->writes)
    write(cell, me, address);
  else
    read(cell, me, address);
}

// A part of a word, or a word of which parts have been touched.
void Races::touch_bytes(Cell* words, Cell* bytes, std::uint64_t offset, unsigned count, const Me& me,
                        std::uint64_t address) {
  Cell& word = words[offset / 4];
  if (word.writer < split_word) {
    for (unsigned i = 0; i < 4; ++i) bytes[offset / 4 * 4 + i] = word;
    word = {split_word, 0};
  }
  for (unsigned i = 0; i < count; ++i) touch(bytes[offset + i], me, address + i);
}

void Races::access(Block& b, const Going& g) {
  const bool shared = g.space == ptx::Space::shared;
  Cell *words = shadow_.words(), *bytes = shadow_.bytes();
  if (shared) {
    if (b.shared_bytes.empty() && g.bytes < 4) b.shared_bytes.resize(b.shared.size() * 4);
    words = b.shared.data();
    bytes = b.shared_bytes.data();
  } else if (words == nullptr || bytes == nullptr) {
    return;
  }
  const Site& site = sites_.at(g.site);
  const Warp& w = b.warps[g.warp];
  Me me;
  me.block = &b;
  me.low = shared ? b.first : low_;
  me.instance = w.instance;
  me.epoch_time = time_in(w.begin, b.epoch, 0);
  me.synced_time = time_in(w.begin, b.epoch, w.synced);
  me.synced = {b.epoch, w.synced};
  me.site = &site;
  me.shared = shared;
  me.fine = b.fine;
  const unsigned now = time_in(w.begin, b.epoch, w.step);
  std::uint32_t lanes = g.lanes;
  Many many = Many::one;
  if (g.together && !site.writes && (lanes & (lanes - 1)) != 0) many = Many::warp;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    me.lane = static_cast<unsigned>(__builtin_ctz(m));
    me.thread = g.warp * warp_lanes + me.lane;
    me.half = make_half(me.instance, many, me.thread, now, g.site);
    me.lanes = many == Many::one ? 1u << me.lane : lanes;
    const std::uint64_t address = g.addresses[me.lane];
    std::uint64_t offset = address;
    if (shared) {
      if (address + g.bytes > b.shared.size() * 4) continue;  // where accesses outside go on
    } else {
      if (!shadow_.holds(address)) continue;
      offset = shadow_.offset(address);
    }
    if (g.bytes < 4) {
      touch_bytes(words, bytes, offset, g.bytes, me, address);
    } else {
      for (unsigned i = 0; i < g.bytes; i += 4) {
        Cell& word = words[(offset + i) / 4];
        if (word.writer < split_word) [[likely]]
          touch(word, me, address + i);
        else
          touch_bytes(words, bytes, offset + i, 4, me, address + i);
      }
    }
    if (many == Many::warp) break;
  }
  if (b.fine && site.strong) synchronise(b, g);
}

void Races::copies_ended(Block& b, unsigned warp, unsigned lane, std::uint32_t late_site, std::uint32_t site,
                         std::uint64_t address, unsigned bytes) {
  const Warp& w = b.warps[warp];
  const Half mine = make_half(w.instance, Many::one, warp * warp_lanes + lane,
                              time_in(w.begin, b.epoch, w.step), site);
  for (unsigned i = 0; i < bytes; i += 4) {
    if ((address + i) / 4 >= b.shared.size()) return;
    Cell& word = b.shared[(address + i) / 4];
    const auto end = [&](Half& h) {
      if (h < split_word && site_of(h) == late_site && instance_of(h) >= b.first &&
          thread_of(h) == warp * warp_lanes + lane)
        h = mine;
    };
    if (word.writer < split_word) {
      end(word.writer);
    } else {
      for (unsigned k = 0; k < 4; ++k) end(b.shared_bytes[(address + i) / 4 * 4 + k].writer);
    }
  }
}

}  // namespace simtlab::check
