// A timeout per bank that learns: a conflict halves it (the row should have been closed before), the return
// of a row that the timeout closed doubles it. Between 1/16 of the given clocks and 16 times as many.
#include <algorithm>
#include <vector>

#include "memory/dram/page_policy.h"

namespace simtlab::memory::dram {
namespace {

constexpr device::PolicyParameter parameters[] = {
    {"timeout", Unit::cycles, 1, 1000000, 200,
     "Without an access, until a row is closed at first; then 1/16 to 16 times as many"}};

class PageAdaptive final : public PagePolicy {
 public:
  explicit PageAdaptive(const PolicySetup& setup)
      : start_(std::max(setup["timeout"], 16u)), banks_(setup.banks()) {
    restart();
  }

  Cycle close_at(const Queues& queues, BankIndex bank) const override {
    return queues.bank(bank).used + banks_[bank].clocks;
  }
  void opened(BankIndex bank, std::uint32_t row, Cycle) override {
    Bank& b = banks_[bank];
    if (b.timed_out && b.row == row) b.clocks = std::min<Cycle>(b.clocks * 2, Cycle{start_} * 16);
    b.timed_out = false;
  }
  // A refresh of the bank alone is no timeout, and is taken for one: it happens once in thousands of clocks.
  void closed(BankIndex bank, std::uint32_t row, Closing why, Cycle) override {
    if (why == Closing::with_access || why == Closing::rank_upkeep) return;
    Bank& b = banks_[bank];
    b.row = row;
    b.timed_out = why != Closing::conflict;
    if (why == Closing::conflict) b.clocks = std::max<Cycle>(b.clocks / 2, start_ / 16);
  }
  void restart() override { std::fill(banks_.begin(), banks_.end(), Bank{start_, 0, false}); }

 private:
  struct Bank {
    Cycle clocks = 0;
    std::uint32_t row = 0;
    bool timed_out = false;
  };
  std::uint32_t start_;
  std::vector<Bank> banks_;
};

}  // namespace

extern constinit const PagePolicyRule page_adaptive = page_policy_rule<PageAdaptive>(
    "It is closed after a time that adapts to what the last decisions cost", parameters);

}  // namespace simtlab::memory::dram
