#include "memory/dram/page_policy.h"

#include "base/error.h"

namespace simtlab::memory::dram {

std::unique_ptr<PagePolicy> make_page_policy(const device::MemoryController& controller,
                                             std::uint32_t banks) {
  using Kind = device::PagePolicyKind;
  switch (controller.page.policy) {
    case Kind::open: return make_page_open();
    case Kind::closed: return make_page_closed();
    case Kind::timeout: return make_page_timeout(controller.page.timeout);
    case Kind::adaptive: return make_page_adaptive(controller.page.timeout, banks);
  }
  SIMTLAB_ASSERT(false, "every kind of page policy is made");
  return nullptr;
}

}  // namespace simtlab::memory::dram
