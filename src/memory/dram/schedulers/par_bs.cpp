// Parallelism-aware batch scheduling (Mutlu and Moscibroda, ISCA 2008): fair to the sources of requests.
//
// When no marked request is left, the oldest `batch_cap` of every source and bank are marked. Marked requests
// go first; among them row hits, then the source with the smallest share of the batch (its largest number in
// one bank, then its total), then the oldest. Sources are counted modulo 64.
#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <vector>

#include "memory/dram/scheduler.h"

namespace simtlab::memory::dram {
namespace {

constexpr std::uint32_t source_count = 64;
constexpr std::uint64_t key_unmarked = std::uint64_t{1} << 37;
constexpr std::uint64_t key_miss = std::uint64_t{1} << 36;
// The order below wraps after 2^30 requests, far more than are ever queued
constexpr unsigned rank_shift = 30;

constexpr device::PolicyParameter parameters[] = {
    {"batch_cap", Unit::none, 1, 65536, 5, "Requests of one source and bank in a batch"}};

class ParBs final : public Scheduler {
 public:
  explicit ParBs(const PolicySetup& setup)
      : cap_(setup["batch_cap"]), banks_(setup.banks()), taken_(std::size_t{banks_} * source_count) {
    restart();
  }

  void choose(BankView view, Choice& choice) const override {
    for (Slot s = view.current(); s != no_slot; view.advance(), s = view.current()) {
      const Request& r = view.request(s);
      const bool hit = view.hits(s);
      const std::uint64_t key = key_waits | (r.marked ? 0 : key_unmarked) | (hit ? 0 : key_miss) |
                                (std::uint64_t{rank_[r.source % source_count]} << rank_shift) |
                                (r.order & ((std::uint64_t{1} << rank_shift) - 1));
      if (hit && key < choice.column_key) choice.column = s, choice.column_key = key;
      if (!hit && key < choice.row_key) choice.row = s, choice.row_key = key;
    }
    // A row that the batch's better requests want stays open.
    if (choice.column_key < choice.row_key)
      choice.row = no_slot, choice.row_key = key_none;
    else if (choice.row != no_slot && view.bank().open)
      choice.column = no_slot, choice.column_key = key_none;
  }

  bool arrived(Queues& queues, Slot, Cycle) override { return marked_ == 0 && form_batch(queues); }
  bool served(Queues& queues, Slot slot, Cycle) override {
    if (queues[slot].marked) --marked_;
    return marked_ == 0 && form_batch(queues);
  }
  void restart() override {
    marked_ = 0;
    rank_.fill(0);
  }

 private:
  bool form_batch(Queues& queues) {
    std::fill(taken_.begin(), taken_.end(), std::uint16_t{0});
    std::array<std::uint32_t, source_count> total{}, most{};
    for (BankIndex b = 0; b < banks_; ++b) {
      BankView view(queues, b, BankView::Lists::both);
      for (Slot s = view.current(); s != no_slot; view.advance(), s = view.current()) {
        Request& r = queues[s];
        const std::uint32_t source = r.source % source_count;
        std::uint16_t& taken = taken_[b * source_count + source];
        if (taken >= cap_) continue;
        most[source] = std::max<std::uint32_t>(most[source], ++taken);
        ++total[source];
        r.marked = true;
        ++marked_;
      }
    }
    std::array<std::uint8_t, source_count> order{};
    std::iota(order.begin(), order.end(), std::uint8_t{0});
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
      return std::tuple(most[a], total[a], a) < std::tuple(most[b], total[b], b);
    });
    for (std::uint8_t place = 0; place < source_count; ++place) rank_[order[place]] = place;
    return marked_ != 0;
  }

  std::uint32_t cap_, banks_;
  std::uint64_t marked_ = 0;
  std::vector<std::uint16_t> taken_;  // banks x sources
  std::array<std::uint8_t, source_count> rank_{};
};

}  // namespace

extern constinit const SchedulerRule scheduler_par_bs =
    scheduler_rule<ParBs>("Batches that are fair to the sources of requests", parameters);

}  // namespace simtlab::memory::dram
