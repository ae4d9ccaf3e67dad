// Blacklisting (Subramanian et al., The Blacklisting Memory Scheduler, ICCD 2014): a source that is served
// several times in a row steps back behind the others for a while, so that a stream of row hits does not keep
// everybody else waiting. Far less state than batches: the last source, how often it was served, and a bit of
// each source. Sources count modulo 64.
#include "memory/dram/scheduler.h"

namespace simtlab::memory::dram {
namespace {

constexpr device::PolicyParameter parameters[] = {
    {"streak", Unit::none, 1, 1024, 4, "Requests of one source in a row after which it steps back"},
    {"clearing", Unit::cycles, 100, 1000000, 10000, "Until all sources may be first again"},
};

class Blacklist final : public Scheduler {
 public:
  explicit Blacklist(const PolicySetup& setup) : streak_(setup["streak"]), clearing_(setup["clearing"]) {}

  // Sources that have not stepped back first, then row hits, then the oldest.
  void choose(BankView view, Choice& choice) const override {
    for (Slot s = view.current(); s != no_slot; view.advance(), s = view.current()) {
      const Request& r = view.request(s);
      const bool hit = view.hits(s);
      const std::uint64_t key = key_waits | (steps_back(r.source) ? key_last : 0) | (hit ? 0 : key_miss) |
                                (r.order & (key_miss - 1));
      if (hit && key < choice.column_key) choice.column = s, choice.column_key = key;
      if (!hit && key < choice.row_key) choice.row = s, choice.row_key = key;
    }
    // The bank goes on with its row, or opens another one: not both.
    if (choice.column_key < choice.row_key)
      choice.row = no_slot, choice.row_key = key_none;
    else if (choice.row != no_slot && view.bank().open)
      choice.column = no_slot, choice.column_key = key_none;
  }

  bool served(Queues& queues, Slot slot, Cycle at) override {
    bool changed = false;
    if (at >= clear_at_) {
      changed = listed_ != 0;
      listed_ = 0;
      clear_at_ = at + clearing_;
    }
    const std::uint32_t source = queues[slot].source % 64;
    count_ = source == last_ ? count_ + 1 : 1;
    last_ = source;
    if (count_ < streak_) return changed;
    count_ = 0;
    changed = changed || !steps_back(source);
    listed_ |= std::uint64_t{1} << source;
    return changed;
  }
  void restart() override { listed_ = count_ = 0, last_ = 64, clear_at_ = 0; }

 private:
  static constexpr std::uint64_t key_last = std::uint64_t{1} << 37, key_miss = std::uint64_t{1} << 36;
  bool steps_back(std::uint32_t source) const { return (listed_ >> (source % 64) & 1) != 0; }

  std::uint32_t streak_, clearing_;
  std::uint64_t listed_ = 0;             // sources that step back
  std::uint32_t last_ = 64, count_ = 0;  // the source that was served last, and how often in a row
  Cycle clear_at_ = 0;
};

}  // namespace

extern constinit const SchedulerRule scheduler_blacklist = scheduler_rule<Blacklist>(
    "Sources that were served often in a row step back, then row hits, then the oldest", parameters);

}  // namespace simtlab::memory::dram
