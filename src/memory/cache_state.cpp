// The contents of a cache as bytes: set by set, lines in the order of their last use, each with its place
// (random replacement picks by it).
#include <algorithm>

#include "memory/cache.h"

namespace simtlab::memory {

using stream::trace::Buffer;
using stream::trace::Bytes;
using stream::trace::Malformed;
using stream::trace::put_number;
using stream::trace::put_u32;
using stream::trace::put_u64;

void Cache::save(Buffer& out) const {
  put_number(out, state_.size());
  put_u64(out, random_);
  out.push_back(touched_ ? 1 : 0);
  if (!touched_) return;
  for (std::uint32_t number = 0; number < sets_; ++number) {
    put_number(out, set_state_[number].used);
    for (Slot slot = oldest_of(number); slot != none; slot = newer_than(number, slot)) {
      const Line& line = state_[slot];
      put_number(out, slot - number * config_.ways);
      put_number(out, key_of(slot));
      out.push_back(static_cast<std::uint8_t>(line.valid | line.dirty << 4));
      out.push_back(line.partial ? 1 : 0);
      for (unsigned s = 0; line.partial && s < subsectors_; ++s)
        put_u32(out, partial_[std::size_t{slot} * subsectors_ + s]);
    }
  }
  if (replacement_ != nullptr) replacement_->save(out);
}

void Cache::restore(Bytes& in) {
  if (in.number() != state_.size()) throw Malformed("a cache of another size");
  touched_ = true;
  clear();
  random_ = in.u64();
  touched_ = in.byte() != 0;
  if (!touched_) return;
  for (std::uint32_t number = 0; number < sets_; ++number) restore_set(number, in);
  if (replacement_ != nullptr) replacement_->restore(in);
}

void Cache::restore_set(std::uint32_t number, Bytes& in) {
  const auto used = static_cast<Slot>(in.number(config_.ways, "the lines of a set"));
  for (Slot i = 0; i < used; ++i) {
    const auto way = static_cast<Slot>(in.number(used - 1, "the place of a line"));
    const Slot slot = number * config_.ways + way;
    if (key_of(slot) != 0) throw Malformed("two lines of a cache in one place");
    restore_line(slot, number, in);
    add_newest(number, slot);
  }
  set_state_[number].used = used;
}

void Cache::restore_line(Slot slot, std::uint32_t set_number, Bytes& in) {
  Line& line = state_[slot];
  const std::uint64_t stored = in.number();
  if (stored == 0 || set_of(stored - 1) != set_number) throw Malformed("a line of a cache in another's set");
  const std::uint8_t sectors = in.byte();
  line.valid = sectors & 0xf;
  line.dirty = sectors >> 4;
  if (((line.valid | line.dirty) & ~part_mask_) != 0)
    throw Malformed("a line of a cache has more sectors than its size");
  line.partial = in.byte() != 0;
  for (unsigned s = 0; line.partial && s < subsectors_; ++s) partial(slot, s) = in.u32();
  if (find(stored - 1, set_number) != none) throw Malformed("a line of a cache stands there twice");
  key_of(slot) = stored;
  index_insert(stored - 1, slot);
}

}  // namespace simtlab::memory
