// Rows stay open until another row of the bank is wanted, or a refresh.
#include "memory/dram/page_policy.h"

namespace simtlab::memory::dram {
namespace {

class PageOpen final : public PagePolicy {};

}  // namespace

extern constinit const PagePolicyRule page_open = page_policy_rule<PageOpen>("It stays open");

}  // namespace simtlab::memory::dram
