// When a row is closed that no queued request asks for. One file per policy (page_*.cpp).
#pragma once

#include <memory>

#include "device/memory_controller.h"
#include "memory/dram/queues.h"

namespace simtlab::memory::dram {

class PagePolicy {
 public:
  virtual ~PagePolicy() = default;
  // Whether a column command closes its row (automatic precharge). Asked with the request out of its queue.
  virtual bool closes_with(const Queues&, BankIndex) const { return false; }
  // For a bank with an open row and no request: when to close it; never: stay open.
  virtual Cycle close_at(const Queues&, BankIndex) const { return never; }
  // A row is opened: whether the bank had been closed by close_at() before, and which row that was.
  virtual void opened(BankIndex, std::uint32_t /*row*/) {}
  // A row was closed: for another request (conflict), or by close_at().
  virtual void closed(BankIndex, std::uint32_t /*row*/, bool /*conflict*/) {}
  virtual void restart() {}
};

std::unique_ptr<PagePolicy> make_page_policy(const device::MemoryController& controller, std::uint32_t banks);

// Each in its own file.
std::unique_ptr<PagePolicy> make_page_open();
std::unique_ptr<PagePolicy> make_page_closed();
std::unique_ptr<PagePolicy> make_page_timeout(std::uint32_t clocks);
std::unique_ptr<PagePolicy> make_page_adaptive(std::uint32_t clocks, std::uint32_t banks);

}  // namespace simtlab::memory::dram
