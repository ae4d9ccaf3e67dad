// shark-aging: SHARK, but nobody waits for ever.
//
// A launch that others have overtaken Settings::aging times goes before SHARK chooses, oldest first. So of
// the launches that came after it at most `aging` are granted before it, and of those before it each at most
// once.
#include "corun/policies/choice.h"

namespace simtlab::corun {
namespace {

void decide(const View& view, Grants& grants) {
  if (grant_aged(view, grants)) grant_shark(view, grants);
}

}  // namespace

extern constinit const Policy policy_shark_aging{"shark-aging",
                                                 "SHARK, but who was overtaken often enough goes first.",
                                                 decide,
                                                 "--light --aging",
                                                 heaviest_and_lightest,
                                                 knows_l2,
                                                 median_or_arrival};

}  // namespace simtlab::corun
