// Open pages, but an access of every third row closes it, and every event written down.
#include "witness.h"

#include "memory/dram/page_policy.h"

namespace simtlab::memory::dram {
namespace {

class Witness final : public PagePolicy {
 public:
  Witness() { witness::page = {}; }
  bool closes_with(const Queues& queues, BankIndex bank) const override {
    return queues.bank(bank).row % 3 == 0;
  }
  Cycle close_at(const Queues& queues, BankIndex bank) const override { return queues.bank(bank).used + 500; }
  void arrived(const Queues&, Slot, Cycle at) override {
    ++witness::page.arrived, witness::note(witness::page, at);
  }
  void served(const Queues&, Slot, Cycle at) override {
    ++witness::page.served, witness::note(witness::page, at);
  }
  void opened(BankIndex, std::uint32_t, Cycle at) override {
    ++witness::page.opened, witness::note(witness::page, at);
  }
  void closed(BankIndex, std::uint32_t, Closing why, Cycle at) override {
    ++witness::page.closed[static_cast<std::size_t>(why)];
    witness::note(witness::page, at);
  }
  void restart() override { witness::page = {}; }
};

}  // namespace

extern constinit const PagePolicyRule page_witness =
    page_policy_rule<Witness>("It stays open, but for every third row");

}  // namespace simtlab::memory::dram
