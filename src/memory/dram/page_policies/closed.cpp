// The last queued access of a row closes it with an automatic precharge.
#include "memory/dram/page_policy.h"

namespace simtlab::memory::dram {
namespace {

class PageClosed final : public PagePolicy {
 public:
  bool closes_with(const Queues& queues, BankIndex bank) const override {
    return !queues.wants_open_row(bank);
  }
};

}  // namespace

extern constinit const PagePolicyRule page_closed =
    page_policy_rule<PageClosed>("Its last queued access closes it");

}  // namespace simtlab::memory::dram
