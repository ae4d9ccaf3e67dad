#include "device/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <variant>

#include "base/error.h"
#include "base/files.h"
#include "device/catalogue.h"
#include "device/consistency.h"

namespace simtlab::device {
namespace {

using testing::HasSubstr;

TEST(Parameters, have_unique_keys_and_one_sentence_each) {
  std::set<std::string> keys;
  for (const Parameter& p : parameters()) {
    EXPECT_TRUE(keys.insert(p.key).second) << p.key;
    ASSERT_GT(p.doc.size(), 10U) << p.key;
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(p.doc.front())) != 0 ||
                std::isdigit(p.doc.front()) != 0)
        << p.key;
    EXPECT_NE(p.doc.back(), '.') << p.key;
    EXPECT_LE(p.minimum, p.maximum) << p.key;
    EXPECT_EQ(find_parameter(p.key), &p);
  }
  EXPECT_EQ(find_parameter("sm.cout"), nullptr);
}

TEST(Parameters, fill_different_members) {
  struct Address {
    const void* operator()(Capability c) const { return c.major; }
    const void* operator()(PolicyChoice c) const { return c.name; }
    const void* operator()(const void* member) const { return member; }
  };
  Device d;
  std::set<const void*> members;
  for (const Parameter& p : parameters())
    EXPECT_TRUE(members.insert(std::visit(Address{}, p.field(d))).second) << p.key << " hides another key";
}

TEST(Parameters, what_show_prints_store_reads_back) {
  for (const std::string& name : list_devices()) {
    const Device d = load_device(name).device;
    Device copy;
    for (const Parameter& p : parameters()) store(p, show(p, d), copy);
    for (const Parameter& p : parameters()) EXPECT_EQ(show(p, copy), show(p, d)) << p.key;
  }
}

TEST(Parameters, ranges_hold_at_both_ends) {
  Device d;
  const Parameter& count = *find_parameter("sm.count");
  store(count, "4096", d);
  EXPECT_EQ(d.sm.count, 4096U);
  EXPECT_THROW(store(count, "4097", d), Error);
  EXPECT_THROW(store(count, "0", d), Error);
  EXPECT_EQ(d.sm.count, 4096U);  // unchanged by what was refused
}

TEST(Parameters, the_documentation_lists_them_all) {
  const std::string reference = parameter_reference();
  const std::string page = read_file(std::string(SIMTLAB_SOURCE_DIR) + "/docs/reference/devices.md", 1 << 20);
  EXPECT_THAT(page, HasSubstr(reference)) << "docs/reference/devices.md is stale: replace its table by\n"
                                          << reference;
}

TEST(Parameters, shipped_files_name_their_sources_fully) {
  // A source that is not in [sources] would be shown as its bare abbreviation.
  for (const std::string& name : list_devices()) {
    for (const Entry& entry : load_device(name).entries) {
      if (entry.origin.layer == "default" || entry.origin.estimated) continue;
      EXPECT_THAT(entry.origin.source, testing::AnyOf(HasSubstr(" "), HasSubstr("/")))
          << name << " " << entry.key;
      EXPECT_GT(entry.origin.source.find(':'), 12U)
          << name << " " << entry.key << ": " << entry.origin.source;
    }
  }
}

TEST(Consistency, latencies_that_exist_under_another_key_are_derived) {
  const Device d = load_device("a100").device;
  const auto latency = [&](std::string_view name) {
    return d.latency[static_cast<std::size_t>(std::find(op_class_names.begin(), op_class_names.end(), name) -
                                              op_class_names.begin())];
  };
  EXPECT_EQ(latency("load"), d.l1.latency);
  EXPECT_EQ(latency("shared"), d.shared.latency);
  EXPECT_EQ(latency("constant"), d.constant.latency);
  EXPECT_EQ(latency("barrier"), d.sm.barrier_latency);
  EXPECT_EQ(latency("control"), d.sm.branch_latency);
  EXPECT_EQ(find_parameter("latency.load"), nullptr);
}

}  // namespace
}  // namespace simtlab::device
