// Races: launches and blocks begin.
#include <algorithm>
#include <memory>
#include <utility>

#include "check/races.h"

namespace simtlab::check {

void Races::all_is_over() {
  if (!instances_.forget()) shadow_.forget_cells();
  low_ = instances_.next();
  before_.clear();
  clocks_.clear();
  readers_.clear();
  released_.clear();
}

std::uint32_t Races::begin_launch(std::vector<std::uint32_t> before) {
  std::ranges::sort(before);
  before_[++launches_] = std::move(before);
  return launches_;
}

void Races::begin_block(Block& b, std::uint32_t launch, std::uint64_t number, unsigned warps,
                        unsigned threads, std::uint32_t shared_bytes, bool fine) {
  b.cluster = number;
  begin(b, launch, number, warps, threads, fine);
  if (b.shared == nullptr) b.shared = std::make_shared<Shared>();
  Shared& s = *b.shared;
  s.first = b.first;
  s.released.clear();
  if (s.words == (shared_bytes + 3) / 4 && !s.writers.empty()) return;
  s.words = (shared_bytes + 3) / 4;
  s.writers.assign(s.words, 0);
  s.readers.assign(s.words, 0);
  s.byte_writers.clear();
  s.byte_readers.clear();
  s.split.assign(s.words / 64 + 1, 0);
}

std::shared_ptr<Races::Shared> Races::shared_of_cluster(std::uint64_t bytes) const {
  auto out = std::make_shared<Shared>();
  out->first = instances_.next();
  out->words = (bytes + 3) / 4;
  out->writers.assign(out->words, 0);
  out->readers.assign(out->words, 0);
  out->split.assign(out->words / 64 + 1, 0);
  return out;
}

void Races::begin_block(Block& b, std::uint32_t launch, std::uint64_t number, unsigned warps,
                        unsigned threads, std::uint64_t cluster, std::shared_ptr<Shared> shared) {
  b.cluster = cluster;
  begin(b, launch, number, warps, threads, true);
  b.shared = std::move(shared);
}

void Races::begin(Block& b, std::uint32_t launch, std::uint64_t number, unsigned warps, unsigned threads,
                  bool fine) {
  b.block = number;
  b.launch = launch;
  b.epoch = 0;
  b.begin = {};
  b.instance = b.first = instances_.add({number, launch, {}, fine, b.cluster});
  b.warps.assign(warps, {b.instance, {}, 0, 0});
  b.fine = fine;
  if (b.races == nullptr) {
    b.races = this;
    blocks_.push_back(&b);
  }
  if (!fine) {
    b.knows.clear();  // no numbers of clocks that may go
    return;
  }
  b.knows.assign(threads, 0);
  for (std::vector<Clocks::Id>& seen : b.seen) seen.assign(threads, 0);
  b.flags.assign(threads, 0);
  b.fenced.assign(threads, {});
  b.left.assign(threads, 0);
  b.has_left = false;
  b.polls.assign(warps, {});
  b.arrived.fill({});
}

}  // namespace simtlab::check
