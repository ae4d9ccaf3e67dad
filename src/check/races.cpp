#include "check/races.h"

#include <algorithm>

#include "check/wide.h"

namespace simtlab::check {

// Who is about to touch memory, in the words of a cell.
struct Races::Me {
  const Block* block = nullptr;
  Half half = 0;  // of this lane
  // Halves below are ordered before it, and `older` halves from `own` on: of the same instance, before its
  // last barrier
  Half below = 0, own = 0, older = 0;
  std::uint32_t low = 0;  // the instance of `below`
  std::uint32_t instance = 0;
  unsigned thread = 0, lane = 0, synced_time = 0;
  Time synced;  // over the warp's whole life
  const Site* site = nullptr;
  std::uint32_t lanes = 0;  // that touch these bytes together
  bool shared = false, fine = false;
  bool plain = false;  // what joined() can do: weak, or the same atomic again
};

namespace {

bool is_small(ptx::Scope scope) { return scope == ptx::Scope::cta || scope == ptx::Scope::cluster; }
// The scope of one includes the thread of the other.
bool includes(ptx::Scope scope, bool same_block, bool same_cluster) {
  return same_block || !is_small(scope) || (same_cluster && scope == ptx::Scope::cluster);
}

}  // namespace

// ---- order

bool Races::same_block(Half h, const Me& me) const {
  const std::uint32_t instance = instance_of(h);
  if (instance == me.instance) return true;
  const Instance& i = instances_.at(instance);
  return i.launch == me.block->launch && i.block == me.block->block;
}

bool Races::same_cluster(Half h, const Me& me) const {
  const Instance& i = instances_.at(instance_of(h));
  return i.launch == me.block->launch && i.cluster == me.block->cluster;
}

namespace {

// Truth as a number: conditions that are put together without a branch, as wide as what they are about
// (vectors of one width).
using Flag = Half;
constexpr Flag flag(bool value) { return value ? 1 : 0; }

// Whether a half is ordered before an access by numbers alone.
[[gnu::always_inline]] inline Flag plainly_before(Half h, Half below, Half own, Half older) {
  return flag(h < below) | (flag(h - own < older) & flag((h & late_bit) == 0));
}

}  // namespace

inline bool Races::before(Half h, const Me& me) const {
  if (plainly_before(h, me.below, me.own, me.older) != 0) return true;
  if (instance_of(h) == me.instance) {
    if ((h & late_bit) != 0 && many_of(h) != Many::grid) return awaited(h, me);
    if (many_of(h) <= Many::warp && thread_of(h) / warp_lanes == me.thread / warp_lanes &&
        time_of(h) < me.synced_time)
      return true;
    if (many_of(h) == Many::one && thread_of(h) == me.thread) return true;
    if (!me.fine) return false;
  }
  return before_slowly(h, ~0u, me);
}

bool Races::before_slowly(Half h, std::uint32_t lanes, const Me& me) const {
  if (instance_of(h) < me.low) return true;
  const Instance& i = instances_.at(instance_of(h));
  if (i.launch != me.block->launch) return std::ranges::binary_search(before_.at(me.block->launch), i.launch);
  const Many many = many_of(h);
  if (many == Many::grid) return false;
  if ((h & late_bit) != 0) return awaited(h, me);
  const Time time = instances_.time_of(h);
  const unsigned warp = thread_of(h) / warp_lanes;
  if (many == Many::one) lanes = 1u << thread_of(h) % warp_lanes;
  if (i.block == me.block->block) {
    if (time.epoch < me.block->epoch) return true;
    const bool same_warp = warp == me.thread / warp_lanes && many != Many::block;
    if (same_warp && time < me.synced) return true;
    if (same_warp && lanes == 1u << me.lane) return true;
  }
  return me.fine && known(me.block->knows[me.thread], h, lanes, me);
}

// By way of releases and acquires.
bool Races::known(Clocks::Id knows, Half h, std::uint32_t lanes, const Me& me) const {
  if (knows == 0) return false;
  const Instance& i = instances_.at(instance_of(h));
  const Many many = many_of(h);
  const Time time = instances_.time_of(h);
  const unsigned warp = thread_of(h) / warp_lanes;
  if (many == Many::one) lanes = 1u << thread_of(h) % warp_lanes;
  if (many == Many::block) return clocks_.knows(knows, i.launch, i.block, Known::all_warps, 0, time);
  std::uint32_t others = lanes;
  if (i.block == me.block->block && warp == me.thread / warp_lanes) others &= ~(1u << me.lane);
  return clocks_.knows(knows, i.launch, i.block, warp, others, time);
}

// A copy arrives by itself at the barrier that it was handed to: even its own thread has to wait there.
bool Races::awaited(Half h, const Me& me) const {
  if (!me.fine || !sites_.at(site_of(h)).handed) return false;
  const Instance& i = instances_.at(instance_of(h));
  return clocks_.knows(me.block->knows[me.thread], i.launch, i.block, thread_of(h) / warp_lanes,
                       1u << thread_of(h) % warp_lanes, instances_.time_of(h));
}

// ---- verdicts

void Races::check_one(Half h, std::uint32_t lanes, const Me& me, std::uint64_t address, bool other_writes) {
  const Site& other = sites_.at(site_of(h));
  const Instance& i = instances_.at(instance_of(h));
  const bool same = i.launch == me.block->launch && i.block == me.block->block;
  Race::Why why = other.late ? Race::Why::late : Race::Why::unordered;
  if (other.strong && me.site->strong && other.bytes == me.site->bytes) {
    const bool cluster = i.launch == me.block->launch && i.cluster == me.block->cluster;
    if (!includes(other.scope, same, cluster) || !includes(me.site->scope, same, cluster))
      why = Race::Why::scope;
    else if ((other.volatile_ || me.site->volatile_) && !other.spins && !me.site->spins)
      why = Race::Why::volatile_;
    else
      return;
  }
  if (why != Race::Why::late && me.fine && many_of(h) != Many::grid &&
      known(me.block->flags[me.thread], h, lanes, me))
    why = Race::Why::unfenced;
  Race race;
  race.why = why;
  race.site = site_of(me.half), race.other_site = site_of(h);
  race.block = me.block->block, race.other_block = i.block;
  race.launch = me.block->launch, race.other_launch = i.launch;
  race.thread = me.thread;
  race.other_many = many_of(h);
  race.other_thread = race.other_many == Many::one ? thread_of(h)
                                                   : thread_of(h) / warp_lanes * warp_lanes +
                                                         static_cast<unsigned>(__builtin_ctz(lanes));
  race.address = address;
  race.acquires = me.fine;
  // The last one of this block is known, those of others are not.
  race.one_of_several = same && race.other_many == Many::grid;
  race.lane = me.lane;
  race.shared = me.shared;
  race.writes = me.site->writes;
  race.other_writes = other_writes || other.writes;
  race.same_block = same && race.other_many != Many::grid;
  race.same_warp =
      same && thread_of(h) / warp_lanes == me.thread / warp_lanes && race.other_many < Many::block;
  race.same_instruction = race.same_warp && race.site == race.other_site &&
                          (h ^ me.half) >> instance_shift == 0 && time_of(h) == time_of(me.half);
  if (race.other_thread == race.thread && same && !other.late) {
    // Of several this one was the last, or is the lowest lane: another one is meant.
    if (race.other_many == Many::one) return;
    const std::uint32_t others = lanes & ~(1u << me.lane);
    if (others == 0) return;
    if (lanes == ~0u)
      race.one_of_several = true;
    else
      race.other_thread =
          thread_of(h) / warp_lanes * warp_lanes + static_cast<unsigned>(__builtin_ctz(others));
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
      const std::uint32_t others = many_of(old) == Many::one ? 1u << thread_of(old) % warp_lanes : ~0u;
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
  if (many_of(old) == Many::grid || !same_block(old, me))
    return with_time(with_many(out, Many::grid), no_time);
  if (many_of(old) <= Many::warp && thread_of(old) / warp_lanes == me.thread / warp_lanes)
    return with_many(out, Many::warp);
  return with_many(out | Half{most_steps} << time_shift, Many::block);
}

namespace {

// The same thread (or the same lanes of a warp) did both.
[[gnu::always_inline]] inline Flag own_half(Half h, Half mine) {
  return flag(((h ^ mine) & (who_mask | late_bit)) == 0);
}

// Who stands for readers (or for the same atomic operation of several threads) when one more comes, where
// there are no lists, the block has one instance, and every other instance is of another block. own: the
// instance's first half; synced: the time of the warp's last synchronisation.
[[gnu::always_inline]] inline Half joined(Half h, Half mine, Half below, Half own, Half older,
                                          unsigned synced) {
  constexpr Half all_many = Half{3} << many_shift, not_few = Half{2} << many_shift;
  constexpr Half warp_of = Half{(1u << thread_bits) - warp_lanes} << thread_shift;
  constexpr Half time_field = Half{no_time} << time_shift;
  const Flag same = flag(h - own < Half{1} << instance_shift);
  const Flag same_warp = same & flag((h & not_few) == 0) & flag(((h ^ mine) & warp_of) == 0);
  const Flag before = plainly_before(h, below, own, older) | own_half(h, mine) |
                      (same_warp & flag((h & time_field) < Half{synced} << time_shift));
  constexpr Half grid = Half{no_time} << time_shift | static_cast<Half>(Many::grid) << many_shift;
  constexpr Half block = Half{most_steps} << time_shift | static_cast<Half>(Many::block) << many_shift;
  constexpr Half warp = static_cast<Half>(Many::warp) << many_shift;
  const Half alone = mine & ~all_many;
  const Flag several = (same ^ 1) | flag((h & all_many) == all_many);
  const Half more = several != 0 ? alone | grid : same_warp != 0 ? alone | warp : alone | block;
  return before != 0 ? mine : more;
}

}  // namespace

[[gnu::always_inline]] inline void Races::read(Half& writer, Half& reader, const Me& me,
                                               std::uint64_t address) {
  const Half w = writer, r = reader;
  if ((plainly_before(w, me.below, me.own, me.older) | own_half(w, me.half)) == 0 && !before(w, me))
    check(w, me, address, true);
  if (me.fine && many_of(me.half) == Many::warp && me.lanes != ~0u) [[unlikely]] {
    // A part of a warp: a half can't say which.
    reader =
        before(r, me) ? list_half(me.instance, readers_.add(0, me.half, me.lanes)) : merge(r, me, me.lanes);
    return;
  }
  if ((plainly_before(r, me.below, me.own, me.older) | own_half(r, me.half)) != 0) {
    reader = me.half;
    return;
  }
  if (me.plain)
    reader = joined(r, me.half, me.below, me.own, me.older, me.synced_time);
  else
    reader = before(r, me) ? me.half : merge(r, me, me.lanes);
}

// An atomic operation reads what another strong one has left: that one is before all that follows this one.
bool Races::observes(Half writer, const Me& me) const {
  if (!me.fine || !me.site->atomic || many_of(writer) != Many::one) return false;
  const Site& other = sites_.at(site_of(writer));
  const bool same = same_block(writer, me), cluster = same_cluster(writer, me);
  return other.strong && !other.volatile_ && other.bytes == me.site->bytes &&
         includes(other.scope, same, cluster) && includes(me.site->scope, same, cluster) &&
         (is_small(me.site->scope) || !is_small(other.scope));
}

void Races::write(Half& writer, Half& reader, const Me& me, std::uint64_t address) {
  if (me.plain && me.site->atomic && site_of(writer) == site_of(me.half) && !is_small(me.site->scope) &&
      plainly_before(reader, me.below, me.own, me.older) != 0) {
    // The same operation as the last one there: the usual case of counters and histograms.
    writer = joined(writer, me.half, me.below, me.own, me.older, me.synced_time);
    return;
  }
  const bool strong = me.site->strong;
  // Strong ones beside each other all count; else the last one.
  const bool after = before(writer, me);
  if (!after) check(writer, me, address, true);
  // Of what is over, neither its lists nor its sites are there any more.
  const bool was_strong =
      instance_of(writer) < me.low || is_list(writer) || sites_.at(site_of(writer)).strong;
  // What is weak and comes before a strong access races with strong ones that this access does not race with:
  // it stays, as a reader if none stands for it.
  if (strong && !was_strong && reader == 0) reader = writer;
  writer = !after && strong && was_strong && !observes(writer, me) ? merge(writer, me, me.lanes) : me.half;
  if (!before(reader, me)) check(reader, me, address, false);
  if (!strong && reader != 0) reader = 0;  // what nobody reads costs no memory
}

[[gnu::always_inline]] inline void Races::touch(Cells cells, std::uint64_t at, const Me& me,
                                                std::uint64_t address) {
  if (me.site->writes)
    write(cells.writers[at], cells.readers[at], me, address);
  else
    read(cells.writers[at], cells.readers[at], me, address);
}

// From now on the bytes of a word have cells of their own.
inline void Races::split(Cells words, Cells bytes, std::uint64_t word) {
  if (words.is_split(word)) return;
  for (unsigned i = 0; i < 4; ++i) {
    if (words.writers[word] != 0) bytes.writers[word * 4 + i] = words.writers[word];
    if (words.readers[word] != 0) bytes.readers[word * 4 + i] = words.readers[word];
  }
  if (words.writers[word] != 0) words.writers[word] = 0;
  if (words.readers[word] != 0) words.readers[word] = 0;
  words.split[word / 64] |= std::uint64_t{1} << word % 64;
}

// A part of a word, or a word of which parts have been touched.
void Races::touch_bytes(Cells words, Cells bytes, std::uint64_t offset, unsigned count, const Me& me,
                        std::uint64_t address) {
  split(words, bytes, offset / 4);
  for (unsigned i = 0; i < count; ++i) touch(bytes, offset + i, me, address + i);
}

[[gnu::always_inline]] inline void Races::touch_lane(Cells words, Cells bytes, std::uint64_t offset,
                                                     unsigned count, const Me& me, std::uint64_t address) {
  if (count < 4) return touch_bytes(words, bytes, offset, count, me, address);
  for (unsigned i = 0; i < count; i += 4) {
    if (!words.is_split((offset + i) / 4)) [[likely]]
      touch(words, (offset + i) / 4, me, address + i);
    else
      touch_bytes(words, bytes, offset + i, 4, me, address + i);
  }
}

// Lanes at words side by side, 2^wide words each, all of it ordered before them by numbers alone, or their
// own, or in the readers already: the usual case, in a loop without branches. me: of the first lane. False:
// nothing was done.
SIMTLAB_WIDE bool Races::touch_row(Cells words, std::uint64_t first, unsigned count, unsigned wide,
                                   const Me& me) const {
  if (words.any_split(first, count)) return false;
  Half* const writers = words.writers + first;
  Half* const readers = words.readers + first;
  const Half below = me.below, own = me.own, older = me.older, lane0 = me.half;
  const Flag joins = flag(me.plain && !me.site->writes);
  const unsigned synced = me.synced_time;
  std::uint64_t other = 0, read = 0, any = 0;
  for (unsigned i = 0; i < count; ++i) {
    const Half mine = lane0 + (Half{i >> wide} << thread_shift), w = writers[i], r = readers[i];
    const Flag fine_w = plainly_before(w, below, own, older) | own_half(w, mine);
    const Flag fine_r = plainly_before(r, below, own, older) | own_half(r, mine);
    other |= (fine_w & (fine_r | joins)) ^ 1;
    read |= fine_r ^ 1;
    any |= r;
  }
  if (other != 0) return false;
  if (!me.site->writes && read == 0) {
    for (unsigned i = 0; i < count; ++i) readers[i] = lane0 + (Half{i >> wide} << thread_shift);
  } else if (me.site->writes) {
    for (unsigned i = 0; i < count; ++i) writers[i] = lane0 + (Half{i >> wide} << thread_shift);
    if (any != 0)  // what nobody reads costs no memory
      for (unsigned i = 0; i < count; ++i) readers[i] = 0;
  } else {
    for (unsigned i = 0; i < count; ++i)
      readers[i] = joined(readers[i], lane0 + (Half{i >> wide} << thread_shift), below, own, older, synced);
  }
  return true;
}

// Who wrote these words last is ordered before this access by numbers alone.
bool Races::written_before(Cells words, std::uint64_t offset, unsigned bytes, std::uint64_t end,
                           const Me& me) const {
  if (offset % 4 != 0 || offset >= end || end - offset < bytes || words.any_split(offset / 4, bytes / 4))
    return false;
  Flag all = 1;
  for (unsigned i = 0; i < bytes / 4; ++i)
    all &= plainly_before(words.writers[offset / 4 + i], me.below, me.own, me.older);
  return all != 0;
}

// All of it but the lane.
Races::Me Races::me_of(const Block& b, const Going& g) const {
  const bool shared = g.space == ptx::Space::shared;
  const Site& site = sites_.at(g.site);
  const Warp& w = b.warps[g.warp];
  Me me;
  me.block = &b;
  me.low = shared ? b.shared->first : low_;
  me.instance = w.instance;
  me.below = Half{me.low} << instance_shift;
  me.own = Half{me.instance} << instance_shift;
  me.older = Half{time_in(w.begin, b.epoch, 0)} << time_shift;
  me.synced_time = time_in(w.begin, b.epoch, w.synced);
  me.synced = {b.epoch, w.synced};
  me.site = &site;
  me.shared = shared;
  me.fine = b.fine;
  me.plain = !b.fine && (!site.strong || site.atomic) && b.instance == b.first && w.instance == b.first &&
             before_.size() == 1;
  return me;
}

void Races::access(Block& b, const Going& g) {
  const bool shared = g.space == ptx::Space::shared;
  Cells words = shadow_.words(), bytes = shadow_.bytes();
  if (shared) {
    if (b.shared->byte_writers.empty() && g.bytes < 4) {
      b.shared->byte_writers.resize(b.shared->words * 4);
      b.shared->byte_readers.resize(b.shared->words * 4);
    }
    words = cells_of(*b.shared), bytes = byte_cells_of(*b.shared);
  } else if (!shadow_.has_cells()) {
    return;
  }
  const Site& site = sites_.at(g.site);
  const Warp& w = b.warps[g.warp];
  Me me = me_of(b, g);
  const unsigned now = time_in(w.begin, b.epoch, w.step);
  const std::uint32_t lanes = g.lanes;
  const bool polls = b.fine && site.strong && may_poll(b, g, site);
  if (polls && polls_again(b, g, words, now)) return;
  const bool at_once = !site.late && !(site.writes && site.strong), words_only = at_once && g.bytes % 4 == 0;
  const unsigned wide = g.bytes == 16 ? 2 : g.bytes == 8 ? 1 : 0;
  std::uint32_t m = lanes;
  while (m != 0) {
    me.lane = static_cast<unsigned>(__builtin_ctz(m));
    me.thread = g.warp * warp_lanes + me.lane;
    const std::uint64_t address = g.addresses[me.lane];
    // Lanes behind each other that lie side by side, or that read one place, at once.
    Many many = Many::one;
    if (at_once && (m >> me.lane & 3) == 3) {
      const std::uint64_t step = g.addresses[me.lane + 1] - address;
      unsigned count = 2;
      const bool row = step == g.bytes && (step == 4u << wide || step < 4);
      if (row || (words_only && step == 0 && !site.writes))
        while (me.lane + count < warp_lanes && (m >> (me.lane + count) & 1) != 0 &&
               g.addresses[me.lane + count] - address == count * step)
          ++count;
      const std::uint32_t run = (count == warp_lanes ? ~0u : (1u << count) - 1) << me.lane;
      if (row && count >= 4) {
        const std::uint64_t end = address + std::uint64_t{g.bytes} * count;
        const bool inside =
            shared ? end <= b.shared->words * 4 : shadow_.holds(address) && shadow_.holds(end - 1);
        me.half = make_half(me.instance, Many::one, me.thread, now, g.site);
        const std::uint64_t first = shared ? address : shadow_.offset(address);
        if (inside && step < 4)
          for (std::uint64_t word = first / 4; word <= (first + step * count - 1) / 4; ++word)
            split(words, bytes, word);
        if (inside && (step < 4 ? touch_row(bytes, first, count * g.bytes, g.bytes / 2, me)
                                : touch_row(words, first / 4, count << wide, wide, me))) {
          m &= ~run;
          continue;
        }
      } else if (words_only && step == 0 && !site.writes &&
                 written_before(words, shared ? address : shadow_.offset(address), g.bytes,
                                shared ? b.shared->words * 4 : shadow_.size(), me)) {
        // Else one of them may have written it.
        many = Many::warp;
        me.lanes = run;
        m &= ~run;
      }
    }
    if (many == Many::one) {
      me.lanes = 1u << me.lane;
      m &= m - 1;
    }
    me.half = make_half(me.instance, many, me.thread, now, g.site);
    std::uint64_t offset = address;
    if (shared) {
      if (address + g.bytes > b.shared->words * 4) continue;  // where accesses outside go on
    } else {
      if (!shadow_.holds(address)) continue;
      offset = shadow_.offset(address);
    }
    touch_lane(words, bytes, offset, g.bytes, me, address);
  }
  if (b.fine && site.strong) synchronise(b, g);
  if (polls) note_poll(b, g, words, now);
}

// A strong load of all lanes from one place.
bool Races::may_poll(const Block& b, const Going& g, const Site& site) const {
  if (site.writes || g.bytes % 4 != 0 || g.bytes > 16) return false;
  const std::uint64_t address = g.addresses[__builtin_ctz(g.lanes)];
  if (address % 4 != 0 || (g.space == ptx::Space::shared && address + g.bytes > b.shared->words * 4))
    return false;
  if (g.space != ptx::Space::shared && (!shadow_.holds(address) || !shadow_.holds(address + g.bytes - 1)))
    return false;
  for (std::uint32_t m = g.lanes; m != 0; m &= m - 1)
    if (g.addresses[__builtin_ctz(m)] != address) return false;
  return true;
}

bool Races::polls_again(const Block& b, const Going& g, Cells words, unsigned now) const {
  const Poll& last = b.polls[g.warp];
  const std::uint64_t address = g.addresses[__builtin_ctz(g.lanes)];
  if (last.site != g.site || last.lanes != g.lanes || last.address != address || last.time != now ||
      last.instance != b.warps[g.warp].instance || last.releases != releases_)
    return false;
  const std::uint64_t word = (g.space == ptx::Space::shared ? address : shadow_.offset(address)) / 4;
  for (unsigned i = 0; i < g.bytes / 4; ++i)
    if (words.writers[word + i] != last.writers[i] || words.readers[word + i] != last.readers[i])
      return false;
  return true;
}

void Races::note_poll(Block& b, const Going& g, Cells words, unsigned now) const {
  const std::uint64_t address = g.addresses[__builtin_ctz(g.lanes)];
  Poll poll{.site = g.site,
            .lanes = g.lanes,
            .instance = b.warps[g.warp].instance,
            .time = now,
            .address = address,
            .releases = releases_};
  const std::uint64_t word = (g.space == ptx::Space::shared ? address : shadow_.offset(address)) / 4;
  for (unsigned i = 0; i < g.bytes / 4; ++i) {
    if (words.is_split(word + i)) return;
    poll.writers[i] = words.writers[word + i];
    poll.readers[i] = words.readers[word + i];
  }
  b.polls[g.warp] = poll;
}

}  // namespace simtlab::check
