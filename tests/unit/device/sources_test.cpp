// Where values come from: the kinds of sources, and how much kernels move with a value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.h"
#include "device/catalogue.h"
#include "device/document.h"
#include "device/elasticity.h"
#include "device/source_kind.h"

namespace simtlab::device {
namespace {

using testing::HasSubstr;

std::string sources_error(std::string_view text) {
  try {
    parse_document(text, "gpu.toml", Form::annotated);
  } catch (const Error& e) { return e.format(); }
  return "accepted";
}

TEST(SourceKinds, a_value_has_the_kind_of_its_source) {
  const Document d = parse_document(
      "[sources]\n"
      "board = { title = \"my board\", kind = \"measured\" }\n"
      "sheet = { kind = \"vendor\", title = \"data sheet\" }\n"
      "plain = \"hearsay\"\n"
      "[sm]\n"
      "count = { value = 4, source = \"board: counted\" }\n"
      "schedulers = { value = 4, source = \"sheet\" }\n"
      "issue_width = { value = 1, source = \"plain\" }\n"
      "max_warps = { value = 64, source = \"somebody\" }\n"
      "max_blocks = { value = 16, estimated = \"board\" }\n",
      "gpu.toml", Form::annotated);
  ASSERT_EQ(d.nodes.size(), 5U);
  EXPECT_EQ(d.nodes[0].source, "my board: counted");
  EXPECT_EQ(d.nodes[0].kind, SourceKind::measured);
  EXPECT_EQ(d.nodes[1].source, "data sheet");
  EXPECT_EQ(d.nodes[1].kind, SourceKind::vendor);
  EXPECT_EQ(d.nodes[2].source, "hearsay");
  EXPECT_EQ(d.nodes[2].kind, SourceKind::unstated);
  EXPECT_EQ(d.nodes[3].kind, SourceKind::unstated);
  EXPECT_EQ(d.nodes[4].kind, SourceKind::estimated);
  EXPECT_EQ(d.nodes[4].source, "board");
}

TEST(SourceKinds, what_is_wrong_with_a_source_is_said_with_its_line) {
  EXPECT_THAT(sources_error("[sources]\na = { title = \"t\", kind = \"guess\" }\n"),
              testing::AllOf(HasSubstr("gpu.toml:2"), HasSubstr("unknown kind of a source"),
                             HasSubstr("measured, vendor, simulator, derived")));
  EXPECT_THAT(sources_error("[sources]\na = { title = \"t\", year = 2019 }\n"),
              HasSubstr("unknown word 'year' of a source"));
  EXPECT_THAT(sources_error("[sources]\na = { kind = \"vendor\" }\n"), HasSubstr("a title with a kind"));
  EXPECT_THAT(sources_error("[sources]\na = 3\n"), HasSubstr("a source is a text"));
  EXPECT_THAT(sources_error("[sources]\na = { title = \"t\", kind = 3 }\n"), HasSubstr("unknown kind"));
}

TEST(SourceKinds, every_value_of_a_shipped_device_has_one) {
  for (const std::string& name : list_devices()) {
    for (const Entry& e : load_device(name).entries) {
      if (e.origin.layer != "device") continue;
      EXPECT_NE(e.origin.kind, SourceKind::unstated) << name << " " << e.key << ": " << e.origin.source;
      EXPECT_EQ(e.origin.kind == SourceKind::estimated, e.origin.estimated) << name << " " << e.key;
    }
  }
}

TEST(SourceKinds, a_setting_has_none) {
  Setting setting;
  setting.key = "sm.count";
  setting.value = "4";
  setting.origin.layer = "command line";
  const LoadedDevice d = load_device("h100", {setting});
  const auto count = std::ranges::find(d.entries, "sm.count", &Entry::key);
  ASSERT_NE(count, d.entries.end());
  EXPECT_EQ(count->origin.kind, SourceKind::unstated);
}

TEST(Elasticities, are_rows_of_a_table_with_remarks) {
  const auto rows = parse_elasticities(
      "# a remark\ndevice,key,change,kernel\nh100,latency.sfu,0.125,nbody\nh100,operands.shared_load,0,\n",
      "e.csv");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].device, "h100");
  EXPECT_EQ(rows[0].key, "latency.sfu");
  EXPECT_DOUBLE_EQ(rows[0].change, 0.125);
  EXPECT_EQ(rows[0].kernel, "nbody");
  EXPECT_EQ(rows[1].kernel, "");
  EXPECT_TRUE(parse_elasticities("", "e.csv").empty());
}

TEST(Elasticities, rows_that_are_none_are_refused) {
  const auto refusal = [](std::string_view text) -> std::string {
    try {
      parse_elasticities(text, "e.csv");
    } catch (const Error& e) { return e.format(); }
    return "accepted";
  };
  EXPECT_THAT(refusal("h100,latency.sfu,0.1,nbody\n"), HasSubstr("e.csv:1"));
  const std::string head = "device,key,change,kernel\n";
  EXPECT_THAT(refusal(head + "h100,latency.sfu,0.1\n"), HasSubstr("four cells"));
  EXPECT_THAT(refusal(head + "h100,latency.sfu,much,nbody\n"), HasSubstr("no number"));
  EXPECT_THAT(refusal(head + "h100,latency.sfu,-0.1,nbody\n"), HasSubstr("no number"));
  EXPECT_THAT(refusal(head + "h100,latency.sfu,nan,nbody\n"), HasSubstr("no number"));
  EXPECT_THAT(refusal(head + ",latency.sfu,0.1,nbody\n"), HasSubstr("four cells"));
}

TEST(Elasticities, of_the_catalogue_are_about_its_values) {
  for (const Elasticity& e : load_elasticities()) {
    const LoadedDevice d = load_device(e.device);
    EXPECT_NE(std::ranges::find(d.entries, e.key, &Entry::key), d.entries.end()) << e.device << " " << e.key;
  }
}

}  // namespace
}  // namespace simtlab::device
