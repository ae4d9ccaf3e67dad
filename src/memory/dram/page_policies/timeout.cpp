// A row is closed when its bank has had no command for some clocks and no request waits.
#include "memory/dram/page_policy.h"

namespace simtlab::memory::dram {
namespace {

constexpr device::PolicyParameter parameters[] = {
    {"timeout", Unit::cycles, 1, 1000000, 200, "Without an access, until a row is closed"}};

class PageTimeout final : public PagePolicy {
 public:
  explicit PageTimeout(const PolicySetup& setup) : clocks_(setup["timeout"]) {}
  Cycle close_at(const Queues& queues, BankIndex bank) const override {
    return queues.bank(bank).used + clocks_;
  }

 private:
  std::uint32_t clocks_;
};

}  // namespace

extern constinit const PagePolicyRule page_timeout = page_policy_rule<PageTimeout>(
    "It is closed when its bank has had no command for some clocks", parameters);

}  // namespace simtlab::memory::dram
