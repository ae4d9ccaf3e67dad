#include "report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/export.h"
#include "report/html_writer.h"

namespace simtlab::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Html, TextIsEscapedInElementsAndInData) {
  EXPECT_EQ(html_escaped("<a href='x'>\"&"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;");
  EXPECT_THAT(html_json({{"a", "</script><!--"}}), Not(HasSubstr("<")));
}

TEST(Html, AnEmptyResultIsAPage) {
  const std::string page = html({}, {});
  EXPECT_THAT(page, HasSubstr("<!DOCTYPE html>"));
  EXPECT_THAT(page, Not(HasSubstr("<figure")));
}

TEST(Html, ChartsWithoutRowsAreLeftOut) { EXPECT_EQ(html_chart({"bars", "t", "d", {}, {}}), ""); }

TEST(Html, NumbersKnowTheirDeclaration) {
  EXPECT_EQ(html_metric("gpu.time", 1500),
            "<span data-m=\"gpu.time\" data-exact=\"1500\" tabindex=\"0\">1.50 us</span>");
}

TEST(Markdown, AnEmptyResultIsAPage) { EXPECT_THAT(markdown({}), HasSubstr("# simtlab")); }

TEST(Sqlite, AnEmptyResultIsADatabase) { EXPECT_TRUE(sqlite_database({}).starts_with("SQLite format 3")); }

}  // namespace
}  // namespace simtlab::report
