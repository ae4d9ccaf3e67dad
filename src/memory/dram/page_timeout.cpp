// A row is closed when its bank has had no command for some clocks and no request waits.
#include "memory/dram/page_policy.h"

namespace simtlab::memory::dram {
namespace {

class PageTimeout final : public PagePolicy {
 public:
  explicit PageTimeout(std::uint32_t clocks) : clocks_(clocks) {}
  Cycle close_at(const Queues& queues, BankIndex bank) const override {
    return queues.bank(bank).used + clocks_;
  }

 private:
  std::uint32_t clocks_;
};

}  // namespace

std::unique_ptr<PagePolicy> make_page_timeout(std::uint32_t clocks) {
  return std::make_unique<PageTimeout>(clocks);
}

}  // namespace simtlab::memory::dram
