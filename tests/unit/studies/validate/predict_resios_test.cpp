// What is published of Resios' model: every point is met, every kernel of the table has its precision.
#include "studies/validate/predict_resios.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "device/catalogue.h"

namespace simtlab::studies::validate {
namespace {

Table published() { return Table::read(device::data_directory() / "measured" / "resios.csv"); }

TEST(ResiosPoints, AreAllMet) {
  const auto points = resios_points(published());
  EXPECT_EQ(points.size(), 37u);
  std::set<std::string> ids;
  for (const ResiosPoint& p : points) {
    EXPECT_TRUE(p.agrees()) << p.id << " " << p.what << ": " << p.ours << ", published " << p.published;
    EXPECT_TRUE(ids.insert(p.id).second) << p.id;
  }
}

TEST(ResiosPoints, AnotherFigureDoesNotAgree) {
  ResiosPoint p{"R067", "4.3.1", "delay", 2.1667, 2.1669};
  EXPECT_TRUE(p.agrees());
  p.ours = 2.17;
  EXPECT_FALSE(p.agrees());
  p.published = p.ours = 0;
  EXPECT_TRUE(p.agrees());
}

TEST(ResiosKernels, HaveAPublishedPrecision) {
  EXPECT_EQ(resios_kernels().size(), 6u);  // transpose in two sizes
  EXPECT_EQ(std::ranges::count(resios_kernels(), true, &ResiosKernel::slow), 1);
  EXPECT_EQ(published_precision(published(), "madd"), 2.12);
  for (const ResiosKernel& k : resios_kernels())
    EXPECT_GT(published_precision(published(), k.name), 0) << k.name;
  EXPECT_ANY_THROW(published_precision(published(), "sort"));
}

TEST(ResiosVariants, TheTableIsWithTheFrontEndOfTheThesis) {
  const auto variants = resios_variants();
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_TRUE(models::parse_options("order", variants[0].parameters).resios.split_fma);
  EXPECT_FALSE(models::parse_options("order", variants[1].parameters).resios.split_fma);
}

}  // namespace
}  // namespace simtlab::studies::validate
