// Rows stay open until another row of the bank is wanted, or a refresh.
#include "memory/dram/page_policy.h"

namespace simtlab::memory::dram {
namespace {

class PageOpen final : public PagePolicy {};

}  // namespace

std::unique_ptr<PagePolicy> make_page_open() { return std::make_unique<PageOpen>(); }

}  // namespace simtlab::memory::dram
