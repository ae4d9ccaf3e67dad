// The array is searched once or more for every access of the simulated GPU. Up to 16 ways (`narrow_`) a set's
// keys lie side by side and are compared one after another, and the order of its lines is one word of four
// bits a line; that is faster than any index for the sizes that hardware has. More ways (fully associative
// caches of studies) use a hash index and linked lists, so that no operation depends on their number.
#include "memory/cache.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "memory/mix.h"

namespace simtlab::memory {
namespace {

bool is_size(std::uint32_t bytes) { return bytes == 32 || bytes == 64 || bytes == 128; }

std::uint8_t whole_sectors(unsigned sectors, std::uint32_t sector_bytes) {
  unsigned wide = 0;
  const unsigned size = sector_bytes / 32, ones = (1u << size) - 1;
  for (unsigned at = 0; at < 4; at += size)
    if ((sectors >> at) & ones) wide |= ones << at;
  return static_cast<std::uint8_t>(wide);
}

// Where a way stands in the order of a set: the lowest four bits that are equal (the zeros beyond the order
// come after it).
unsigned place_of_way(std::uint64_t order, std::uint64_t way) {
  constexpr std::uint64_t ones = 0x1111'1111'1111'1111ull;
  const std::uint64_t differs = order ^ way * ones;
  return static_cast<unsigned>(std::countr_zero((differs - ones) & ~differs & ones << 3)) / 4;
}

}  // namespace

CacheConfig cache_config(const device::CacheParams& params, std::uint64_t bytes, std::uint64_t seed) {
  return {.bytes = bytes,
          .line_bytes = params.line_bytes,
          .sector_bytes = params.sector_bytes,
          .ways = params.ways,
          .replacement = params.replacement,
          .set_index = params.set_index,
          .set_bits = params.set_bits,
          .seed = seed};
}

CacheConfig l2_slice_config(const device::Device& device, std::uint32_t slice) {
  CacheConfig config = cache_config(device.l2, device.l2.bytes / device.l2_slices, slice);
  if (device.l2_dirty_share < 1)
    config.dirty_ways = std::max(1u, static_cast<std::uint32_t>(device.l2_dirty_share * device.l2.ways));
  return config;
}

Cache::Cache(const CacheConfig& config) : config_(config) {
  SIMTLAB_ASSERT(
      is_size(config.line_bytes) && is_size(config.sector_bytes) && config.sector_bytes <= config.line_bytes,
      "lines and sectors of a cache are 32, 64 or 128 bytes");
  SIMTLAB_ASSERT(config.ways > 0 && config.bytes >= config.line_bytes, "a cache has at least one line");
  build();
}

void Cache::build() {
  const std::uint64_t lines = config_.bytes / config_.line_bytes;
  config_.ways = static_cast<std::uint32_t>(std::min<std::uint64_t>(config_.ways, lines));
  sets_ = static_cast<std::uint32_t>(lines / config_.ways);
  sub_lines_ = 128 / config_.line_bytes;
  subsectors_ = config_.line_bytes / 32;
  part_mask_ = static_cast<std::uint8_t>((1u << subsectors_) - 1);
  for (unsigned sectors = 0; sectors < widened_.size(); ++sectors)
    widened_[sectors] = whole_sectors(sectors, config_.sector_bytes);
  const std::size_t slots = std::size_t{sets_} * config_.ways;
  set_index_ = make_set_index(config_.set_index, {sets_, config_.line_bytes, config_.set_bits});
  replacement_ = make_replacement(config_.replacement, sets_, config_.ways);
  narrow_ = config_.ways <= 16;
  keys_.assign(slots / 8 + 1, Keys{});
  state_.assign(slots, Line{});
  partial_.clear();
  set_state_.assign(sets_, Set{});
  const std::size_t index_size = narrow_ ? 1 : std::bit_ceil(slots * 2);
  links_.assign(narrow_ ? 0 : slots, Link{});
  index_.assign(index_size, 0);
  index_mask_ = index_size - 1;
  random_ = first_random();
}

void Cache::clear() {
  if (!touched_) return;
  touched_ = false;
  random_ = first_random();  // as new, so that results do not depend on earlier kernels
  std::ranges::fill(keys_, Keys{});
  std::ranges::fill(state_, Line{});
  std::ranges::fill(links_, Link{});
  std::ranges::fill(index_, 0);
  std::ranges::fill(partial_, 0);
  std::ranges::fill(set_state_, Set{});
  if (replacement_ != nullptr) replacement_->clear();
}

void Cache::resize_ways(std::uint32_t ways) {
  config_.bytes = std::uint64_t{sets_} * ways * config_.line_bytes;
  config_.ways = ways;
  build();
}

std::size_t Cache::index_start(std::uint64_t key) const {
  return mix(key * 0x9e3779b97f4a7c15ull) & index_mask_;
}

// number: set_to_search(key).
Cache::Slot Cache::find(std::uint64_t key, std::uint32_t number) const {
  if (!narrow_) return find_indexed(key);
  const Slot first = number * config_.ways;
  const Slot newest = first + static_cast<Slot>(set_state_[number].order & 15);
  if (key_of(newest) == key + 1) return newest;
  Slot found = none;
  for (Slot slot = first; slot < first + config_.ways; ++slot) found = key_of(slot) == key + 1 ? slot : found;
  return found;
}

Cache::Slot Cache::find_indexed(std::uint64_t key) const {
  for (std::size_t i = index_start(key);; i = (i + 1) & index_mask_) {
    const Slot entry = index_[i];
    if (entry == 0) return none;
    if (key_of(entry - 1) == key + 1) return entry - 1;
  }
}

void Cache::index_insert(std::uint64_t key, Slot slot) {
  if (narrow_) return;
  std::size_t i = index_start(key);
  while (index_[i] != 0) i = (i + 1) & index_mask_;
  index_[i] = slot + 1;
}

// Backward-shift deletion: no tombstones, look-ups stay short for ever.
void Cache::index_erase(std::uint64_t key) {
  if (narrow_) return;
  std::size_t hole = index_start(key);
  while (key_of(index_[hole] - 1) != key + 1) hole = (hole + 1) & index_mask_;
  for (std::size_t i = (hole + 1) & index_mask_; index_[i] != 0; i = (i + 1) & index_mask_) {
    const std::size_t home = index_start(key_of(index_[i] - 1) - 1);
    if (((i - home) & index_mask_) < ((i - hole) & index_mask_)) continue;
    index_[hole] = index_[i];
    hole = i;
  }
  index_[hole] = 0;
}

void Cache::unlink(Set& set, Slot slot) {
  const Link& link = links_[slot];
  (link.newer == none ? set.newest : links_[link.newer].older) = link.older;
  (link.older == none ? set.oldest : links_[link.older].newer) = link.newer;
}

void Cache::push_newest(Set& set, Slot slot) {
  links_[slot].newer = none;
  links_[slot].older = set.newest;
  (set.newest == none ? set.oldest : links_[set.newest].newer) = slot;
  set.newest = slot;
}

// Puts a line that is not yet in the order of its set at the newest place.
void Cache::add_newest(std::uint32_t number, Slot slot) {
  Set& set = set_state_[number];
  if (!narrow_) return push_newest(set, slot);
  set.order = set.order << 4 | (slot - number * config_.ways);
}

// Moves a line that is in the order of its set to the newest place.
void Cache::make_newest(std::uint32_t number, Slot slot) {
  Set& set = set_state_[number];
  if (!narrow_) {
    unlink(set, slot);
    push_newest(set, slot);
    return;
  }
  const std::uint64_t way = slot - number * config_.ways;
  const unsigned at = 4 * place_of_way(set.order, way);
  const std::uint64_t newer = (std::uint64_t{1} << at) - 1;  // these move up by one place
  set.order = (set.order & ~newer & ~(std::uint64_t{15} << at)) | (set.order & newer) << 4 | way;
}

bool Cache::is_newest(std::uint32_t number, Slot slot) const {
  return narrow_ ? (set_state_[number].order & 15) == slot - number * config_.ways
                 : links_[slot].newer == none;
}

Cache::Slot Cache::oldest_of(std::uint32_t number) const {
  const Set& set = set_state_[number];
  if (!narrow_) return set.oldest;
  return set.used == 0 ? none
                       : number * config_.ways + static_cast<Slot>(set.order >> (4 * (set.used - 1)) & 15);
}

Cache::Slot Cache::newer_than(std::uint32_t number, Slot slot) const {
  if (!narrow_) return links_[slot].newer;
  const Slot first = number * config_.ways;
  const unsigned at = place_of_way(set_state_[number].order, slot - first);
  return at == 0 ? none : first + static_cast<Slot>(set_state_[number].order >> (4 * (at - 1)) & 15);
}

void Cache::use(std::uint64_t key, Slot slot) {
  if (replacement_ != nullptr) {
    replacement_->used(slot / config_.ways, slot % config_.ways);
    return;
  }
  if (config_.replacement != device::Replacement::lru) return;
  if (!narrow_ && links_[slot].newer == none) return;  // it is the newest, of whatever set
  const std::uint32_t number = set_of(key);
  if (!is_newest(number, slot)) make_newest(number, slot);
}

Cache::Slot Cache::victim(std::uint32_t set_number) {
  Slot slot = oldest_of(set_number);
  if (replacement_ != nullptr) {
    slot = set_number * config_.ways + replacement_->victim(set_number);
  } else if (config_.replacement == device::Replacement::random) {
    random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
    slot = set_number * config_.ways + static_cast<Slot>((random_ >> 33) % config_.ways);
  }
  if (state_[slot].reserved) [[unlikely]]
    // has_room() was asked
    for (slot = oldest_of(set_number); state_[slot].reserved;) slot = newer_than(set_number, slot);
  return slot;
}

void Cache::reserve(std::uint64_t number) {
  const Slot slot = find(number, set_to_search(number));
  if (slot == none || state_[slot].reserved) return;
  state_[slot].reserved = true;
  ++set_state_[set_of(number)].reserved;
}

void Cache::release(std::uint64_t number) {
  const Slot slot = find(number, set_to_search(number));
  if (slot == none || !state_[slot].reserved) return;
  state_[slot].reserved = false;
  --set_state_[set_of(number)].reserved;
}

bool Cache::has_room(std::uint64_t number) const {
  return set_state_[set_of(number)].reserved < config_.ways;
}

// Reports the dirty sectors of a line, which the caller has to write to the level below.
void Cache::report(Slot slot, Evictions& evicted) const {
  const std::uint64_t key = key_of(slot) - 1;
  const Line& line = state_[slot];
  unsigned incomplete = 0;
  if (line.partial)
    for (unsigned s = 0; s < subsectors_; ++s)
      if (partial_[std::size_t{slot} * subsectors_ + s] != 0) incomplete |= line.dirty & 1u << s;
  const auto shift = key % sub_lines_ * subsectors_;
  evicted.items[evicted.count++] = {key / sub_lines_, static_cast<std::uint8_t>(line.dirty << shift),
                                    static_cast<std::uint8_t>(incomplete << shift)};
}

void Cache::make_dirty(std::uint64_t key, Slot slot, std::uint8_t sectors, Evictions& evicted) {
  Line& line = state_[slot];
  const bool first = line.dirty == 0;
  line.dirty = static_cast<std::uint8_t>(line.dirty | sectors);
  if (!first || config_.dirty_ways == 0) return;
  const std::uint32_t number = set_of(key);
  const Line* const lines = &state_[std::size_t{number} * config_.ways];
  if (std::count_if(lines, lines + config_.ways, [](const Line& l) { return l.dirty != 0; }) <=
      config_.dirty_ways)
    return;
  Slot oldest = oldest_of(number);
  while (state_[oldest].dirty == 0 || oldest == slot) oldest = newer_than(number, oldest);
  report(oldest, evicted);
  state_[oldest].dirty = 0;
}

// A place for an absent line; dirty sectors of the line that leaves are reported.
Cache::Slot Cache::allocate(std::uint64_t key, Evictions& evicted) {
  touched_ = true;
  const std::uint32_t number = set_of(key);
  Set& set = set_state_[number];
  Slot slot;
  if (set.used < config_.ways) {
    slot = number * config_.ways + set.used++;
    add_newest(number, slot);
  } else {
    slot = victim(number);
    make_newest(number, slot);
    if (key_of(slot) != 0) {
      const std::uint64_t old = key_of(slot) - 1;
      if (state_[slot].dirty != 0) report(slot, evicted);
      index_erase(old);
    }
  }
  Line& line = state_[slot];
  if (line.partial)
    for (unsigned s = 0; s < subsectors_; ++s) partial_[std::size_t{slot} * subsectors_ + s] = 0;
  key_of(slot) = key + 1;
  line.valid = line.dirty = 0;
  line.partial = false;
  index_insert(key, slot);
  if (replacement_ != nullptr) replacement_->filled(number, slot - number * config_.ways);
  return slot;
}

Cache::Probe Cache::probe(std::uint64_t line, std::uint8_t sectors) const {
  Probe result;
  for (unsigned sub = 0; sub < sub_lines_; ++sub) {
    const std::uint8_t wanted = part(sectors, sub);
    if (wanted == 0) continue;
    const std::uint64_t key = line * sub_lines_ + sub;
    const Slot slot = find(key, set_to_search(key));
    const std::uint8_t hit =
        slot == none ? std::uint8_t{0} : static_cast<std::uint8_t>(wanted & state_[slot].valid);
    result.hit = static_cast<std::uint8_t>(result.hit | (hit << (sub * subsectors_)));
  }
  result.miss = static_cast<std::uint8_t>(sectors & ~result.hit);
  return result;
}

Cache::Probe Cache::read(std::uint64_t line, std::uint8_t sectors) {
  Probe result;
  for (unsigned sub = 0; sub < sub_lines_; ++sub) {
    const std::uint8_t wanted = part(sectors, sub);
    if (wanted == 0) continue;
    const std::uint64_t key = line * sub_lines_ + sub;
    const Slot slot = find(key, set_to_search(key));
    if (slot == none) continue;
    use(key, slot);
    result.hit =
        static_cast<std::uint8_t>(result.hit | ((wanted & state_[slot].valid) << (sub * subsectors_)));
  }
  result.miss = static_cast<std::uint8_t>(sectors & ~result.hit);
  return result;
}

void Cache::fill(std::uint64_t line, std::uint8_t sectors, bool mark_dirty, Evictions& evicted) {
  for (unsigned sub = 0; sub < sub_lines_; ++sub) {
    const std::uint8_t arrived = part(sectors, sub);
    if (arrived == 0) continue;
    const std::uint64_t key = line * sub_lines_ + sub;
    Slot slot = find(key, set_to_search(key));
    if (slot == none) slot = allocate(key, evicted);
    Line& filled = state_[slot];
    filled.valid = static_cast<std::uint8_t>(filled.valid | arrived);
    if (mark_dirty) make_dirty(key, slot, arrived, evicted);
  }
}

std::uint8_t Cache::write(std::uint64_t line, const std::array<std::uint32_t, 4>& bytes, std::uint8_t sectors,
                          bool allocate_line, bool mark_dirty, Evictions& evicted) {
  std::uint8_t present = 0;
  for (unsigned sub = 0; sub < sub_lines_; ++sub) {
    const std::uint8_t wanted = part(sectors, sub);
    if (wanted == 0) continue;
    const std::uint64_t key = line * sub_lines_ + sub;
    Slot slot = find(key, set_to_search(key));
    if (slot == none && !allocate_line) continue;
    if (slot == none) {
      slot = allocate(key, evicted);
    } else {
      present = static_cast<std::uint8_t>(present | (wanted << (sub * subsectors_)));
      use(key, slot);
    }
    Line& written_line = state_[slot];
    if (mark_dirty) make_dirty(key, slot, wanted, evicted);
    for (unsigned s = 0; s < subsectors_; ++s) {
      if (!(wanted & (1u << s)) || (written_line.valid & (1u << s))) continue;
      if (bytes[sub * subsectors_ + s] == ~std::uint32_t{0}) {  // all at once
        written_line.valid = static_cast<std::uint8_t>(written_line.valid | (1u << s));
        continue;
      }
      written_line.partial = true;
      std::uint32_t& written = partial(slot, s);
      written |= bytes[sub * subsectors_ + s];
      if (written == ~std::uint32_t{0})
        written_line.valid = static_cast<std::uint8_t>(written_line.valid | (1u << s));
    }
  }
  return present;
}

// Most caches never see a sector that is written in part, and the bytes of all lines are more than all else
// that is kept of them.
std::uint32_t& Cache::partial(Slot slot, unsigned sector) {
  if (partial_.empty()) [[unlikely]]
    partial_.assign(state_.size() * subsectors_, 0);
  return partial_[std::size_t{slot} * subsectors_ + sector];
}

void Cache::invalidate(std::uint64_t line, std::uint8_t sectors) {
  for (unsigned sub = 0; sub < sub_lines_; ++sub) {
    const std::uint8_t gone = part(sectors, sub);
    if (gone == 0) continue;
    const std::uint64_t key = line * sub_lines_ + sub;
    const Slot slot = find(key, set_to_search(key));
    if (slot == none) continue;
    Line& left = state_[slot];
    left.valid = static_cast<std::uint8_t>(left.valid & ~gone);
    left.dirty = static_cast<std::uint8_t>(left.dirty & ~gone);
    for (unsigned s = 0; left.partial && s < subsectors_; ++s)
      if (gone & (1u << s)) partial_[std::size_t{slot} * subsectors_ + s] = 0;
  }
}

}  // namespace simtlab::memory
