// When a row is closed that no queued request asks for: one file a policy, page_policies/NAME.cpp, which
// gives a PagePolicyRule page_NAME. A new one is a new file: the build makes the list (cmake/registry.cmake).
// Every channel has a page policy of its own, which may keep what it learns from events.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/named.h"
#include "device/memory_controller.h"
#include "memory/dram/policy_setup.h"
#include "memory/dram/queues.h"

namespace simtlab::memory::dram {

// Why a row was closed: for a request of another row, by close_at(), by closes_with(), or for a refresh or
// sleep of its bank alone (bank_upkeep) or of the whole rank at once (rank_upkeep).
enum class Closing : std::uint8_t { conflict, unused, with_access, bank_upkeep, rank_upkeep };

class PagePolicy {
 public:
  virtual ~PagePolicy() = default;
  // Whether a column command closes its row (automatic precharge). Asked with the request out of its queue.
  virtual bool closes_with(const Queues&, BankIndex) const { return false; }
  // For a bank with an open row and no request: when to close it; never: stay open. Asked after each command
  // of the bank.
  virtual Cycle close_at(const Queues&, BankIndex) const { return never; }

  // Events; the channel calls those that a policy overrides. `at` is the cycle.
  // A request may be scheduled from now on
  virtual void arrived(const Queues&, Slot, Cycle /*at*/) {}
  virtual void served(const Queues&, Slot, Cycle /*at*/) {}  // its column command was issued
  virtual void opened(BankIndex, std::uint32_t /*row*/, Cycle /*at*/) {}
  virtual void closed(BankIndex, std::uint32_t /*row*/, Closing, Cycle /*at*/) {}
  virtual void restart() {}
};

// What a policy overrides, as a set: what costs a call.
enum PageEvent : unsigned {
  page_closes_with = 1,
  page_close_at = 2,
  page_on_arrival = 4,
  page_on_service = 8,
  page_on_opening = 16,
  page_on_closing = 32
};
template <class Policy>
constexpr unsigned page_events() {
  return if_overridden(&Policy::closes_with, &PagePolicy::closes_with, page_closes_with) |
         if_overridden(&Policy::close_at, &PagePolicy::close_at, page_close_at) |
         if_overridden(&Policy::arrived, &PagePolicy::arrived, page_on_arrival) |
         if_overridden(&Policy::served, &PagePolicy::served, page_on_service) |
         if_overridden(&Policy::opened, &PagePolicy::opened, page_on_opening) |
         if_overridden(&Policy::closed, &PagePolicy::closed, page_on_closing);
}

struct PagePolicyRule {
  std::string_view doc;  // one sentence without the final full stop
  std::span<const device::PolicyParameter> parameters;
  unsigned events;
  std::unique_ptr<PagePolicy> (*make)(const PolicySetup& setup);
};
template <class Policy>
constexpr PagePolicyRule page_policy_rule(std::string_view doc,
                                          std::span<const device::PolicyParameter> parameters = {}) {
  return {doc, parameters, page_events<Policy>(),
          [](const PolicySetup& setup) -> std::unique_ptr<PagePolicy> { return make_policy<Policy>(setup); }};
}
std::span<const Named<PagePolicyRule>> page_policy_rules();  // in the order of the names

// The page policy of a channel, and what its rule says once and for all.
struct ActivePagePolicy {
  ActivePagePolicy(const device::MemoryController::Page& page, std::uint32_t banks);
  bool listens(PageEvent event) const { return (events & event) != 0; }
  bool closes_with(const Queues& queues, BankIndex bank) const {
    return listens(page_closes_with) && policy->closes_with(queues, bank);
  }
  Cycle close_at(const Queues& queues, BankIndex bank) const {
    return listens(page_close_at) ? policy->close_at(queues, bank) : never;
  }
  void opened(BankIndex bank, std::uint32_t row, Cycle at) {
    if (listens(page_on_opening)) policy->opened(bank, row, at);
  }
  void closed(BankIndex bank, std::uint32_t row, Closing why, Cycle at) {
    if (listens(page_on_closing)) policy->closed(bank, row, why, at);
  }

  unsigned events;
  std::unique_ptr<PagePolicy> policy;
};

}  // namespace simtlab::memory::dram
