// A timeout per bank that learns: a conflict halves it (the row should have been closed before), the return
// of a row that the timeout closed doubles it. Between 1/16 of the given clocks and 16 times as many.
#include <algorithm>
#include <vector>

#include "memory/dram/page_policy.h"

namespace simtlab::memory::dram {
namespace {

class PageAdaptive final : public PagePolicy {
 public:
  PageAdaptive(std::uint32_t clocks, std::uint32_t banks) : start_(std::max(clocks, 16u)), banks_(banks) {
    restart();
  }

  Cycle close_at(const Queues& queues, BankIndex bank) const override {
    return queues.bank(bank).used + banks_[bank].clocks;
  }
  void opened(BankIndex bank, std::uint32_t row) override {
    Bank& b = banks_[bank];
    if (b.timed_out && b.row == row) b.clocks = std::min<Cycle>(b.clocks * 2, Cycle{start_} * 16);
    b.timed_out = false;
  }
  void closed(BankIndex bank, std::uint32_t row, bool conflict) override {
    Bank& b = banks_[bank];
    b.row = row;
    b.timed_out = !conflict;
    if (conflict) b.clocks = std::max<Cycle>(b.clocks / 2, start_ / 16);
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

std::unique_ptr<PagePolicy> make_page_adaptive(std::uint32_t clocks, std::uint32_t banks) {
  return std::make_unique<PageAdaptive>(clocks, banks);
}

}  // namespace simtlab::memory::dram
