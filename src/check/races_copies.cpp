// Races: copies that were under way end.
#include "check/races.h"

namespace simtlab::check {

Cells Races::cells_of(Shared& s) { return {s.writers.data(), s.readers.data(), s.split.data()}; }
Cells Races::byte_cells_of(Shared& s) { return {s.byte_writers.data(), s.byte_readers.data()}; }

// Where h (or one of the readers that it stands for) is the late access of the lane, it becomes the one of
// now.
void Races::end_copy(Half& h, Half late, Half now) {
  constexpr Half same = Half{(1u << thread_bits) - 1} << thread_shift | (most_sites - 1);
  const auto block_of = [&](Half x) {
    const Instance& i = instances_.at(instance_of(x));
    return std::pair(i.launch, i.block);
  };
  if (instance_of(h) < instance_of(late)) return;  // of what was before the block
  if (!is_list(h)) {
    if (((h ^ late) & same) == 0 && many_of(h) == Many::one && block_of(h) == block_of(late)) h = now;
    return;
  }
  const unsigned warp = thread_of(late) / warp_lanes;
  const std::uint32_t lane = 1u << thread_of(late) % warp_lanes;
  std::vector<Readers::Node> nodes;
  bool found = false;
  for (Readers::Id at = list_of(h); at != 0; at = readers_.at(at).next) {
    Readers::Node node = readers_.at(at);
    if (site_of(node.half) == site_of(late) && thread_of(node.half) / warp_lanes == warp &&
        (node.lanes & lane) != 0 && block_of(node.half) == block_of(late)) {
      found = true;
      node.lanes &= ~lane;
    }
    if (node.lanes != 0) nodes.push_back(node);
  }
  if (!found) return;
  Readers::Id list = 0;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
    list = readers_.add(list, node->half, node->lanes);
  h = list_half(instance_of(now), readers_.add(list, with_many(now, Many::warp), lane));
}

void Races::copy_ended(const Block& b, const EndedCopy& copy) {
  const Warp& w = b.warps[copy.warp];
  const unsigned thread = copy.warp * warp_lanes + copy.lane;
  const Half now = make_half(w.instance, Many::one, thread, time_in(w.begin, b.epoch, w.step), copy.site);
  const Half late = make_half(b.first, Many::one, thread, 0, copy.late_site);
  const bool shared = copy.space == ptx::Space::shared, writes = sites_.at(copy.site).writes;
  if (!shared && (!shadow_.has_cells() || !shadow_.holds(copy.address))) return;
  const Cells words = shared ? cells_of(*b.shared) : shadow_.words();
  const Cells bytes = shared ? byte_cells_of(*b.shared) : shadow_.bytes();
  const std::uint64_t first = (shared ? copy.address : shadow_.offset(copy.address)) / 4;
  for (std::uint64_t word = first; word < first + (copy.bytes + 3) / 4; ++word) {
    if (shared && word >= b.shared->words) return;
    if (!words.is_split(word)) {
      end_copy(writes ? words.writers[word] : words.readers[word], late, now);
    } else {
      for (unsigned k = 0; k < 4; ++k)
        end_copy(writes ? bytes.writers[word * 4 + k] : bytes.readers[word * 4 + k], late, now);
    }
  }
}

void Races::handed_ended(const Block& b, unsigned warp, std::uint32_t lanes, std::uint32_t late_site,
                         std::uint32_t site) {
  const Warp& w = b.warps[warp];
  const auto end = [&](Half& h) {
    if (instance_of(h) < b.first || many_of(h) != Many::one || site_of(h) != late_site ||
        thread_of(h) / warp_lanes != warp || (lanes >> thread_of(h) % warp_lanes & 1) == 0 ||
        instances_.at(instance_of(h)).block != b.block)
      return;
    h = make_half(w.instance, Many::one, thread_of(h), time_in(w.begin, b.epoch, w.step), site);
  };
  for (Half& h : b.shared->writers) end(h);
  for (Half& h : b.shared->byte_writers) end(h);
}

}  // namespace simtlab::check
