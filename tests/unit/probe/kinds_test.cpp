#include "probe/kinds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace simtlab::probe {
namespace {

// Findings that a kind uses exist when it runs: what it needs has run before.
TEST(Kinds, WhatAKindNeedsRunsBefore) {
  std::set<std::string_view> before;
  for (const Kind* kind : kinds()) {
    EXPECT_GT(kind->doc.size(), 10u) << kind->name;
    std::istringstream needs{std::string(kind->needs)};
    for (std::string needed; needs >> needed;)
      EXPECT_TRUE(before.contains(needed)) << kind->name << " needs " << needed;
    EXPECT_TRUE(before.insert(kind->name).second) << kind->name << " is there twice";
  }
  EXPECT_EQ(before.size(), registered_kinds().size());
  EXPECT_EQ(kinds().front()->name, "device");
}

}  // namespace
}  // namespace simtlab::probe
