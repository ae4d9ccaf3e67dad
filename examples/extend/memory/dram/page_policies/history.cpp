// Open or closed pages, bank by bank, whichever would have been right the last few times. Conflicts say that
// rows should have been closed; a row that comes back after its last queued access closed it says that it
// should have stayed open.
#include <algorithm>
#include <vector>

#include "memory/dram/page_policy.h"

namespace simtlab::memory::dram {
namespace {

constexpr device::PolicyParameter parameters[] = {
    {"conflicts", Unit::none, 1, 64, 2,
     "Conflicts of a bank, less rows that came back, after which its rows are closed early"}};

class History final : public PagePolicy {
 public:
  explicit History(const PolicySetup& setup) : limit_(setup["conflicts"]), banks_(setup.banks()) {}

  bool closes_with(const Queues& queues, BankIndex bank) const override {
    return banks_[bank].conflicts >= limit_ && !queues.wants_open_row(bank);
  }
  void opened(BankIndex bank, std::uint32_t row, Cycle) override {
    Bank& b = banks_[bank];
    if (b.closed_early && b.row == row && b.conflicts > 0) --b.conflicts;
  }
  void closed(BankIndex bank, std::uint32_t row, Closing why, Cycle) override {
    Bank& b = banks_[bank];
    b.row = row;
    b.closed_early = why == Closing::with_access;
    if (why == Closing::conflict) b.conflicts = std::min(b.conflicts + 1, 2 * limit_);
  }
  void restart() override { std::ranges::fill(banks_, Bank{}); }

 private:
  struct Bank {
    std::uint32_t conflicts = 0;
    std::uint32_t row = 0;  // that was closed last
    bool closed_early = false;
  };
  std::uint32_t limit_;
  std::vector<Bank> banks_;
};

}  // namespace

extern constinit const PagePolicyRule page_history =
    page_policy_rule<History>("It is closed early in banks whose rows have met conflicts", parameters);

}  // namespace simtlab::memory::dram
