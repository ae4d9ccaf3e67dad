// Lines of sources in reports.
#include "result/source_place.h"

#include <gtest/gtest.h>

namespace simtlab::result {
namespace {

TEST(SourcePlace, IsTheNameOfTheFileAndTheLine) {
  EXPECT_EQ(source_place("/a/b/saxpy.cu", 12), "saxpy.cu:12");
  EXPECT_EQ(source_place("saxpy.cu", 1), "saxpy.cu:1");
  EXPECT_EQ(source_place("", 3), ":3");
  EXPECT_EQ(source_place("/a/", 3), ":3");
}

TEST(SourcePlace, OfAProgramsOwnTextHasNoHash) {
  EXPECT_EQ(source_place("/cache/opencl-0690a26b1c5d4e3f2a1b0c9d8e7f6a5b.cl", 12), "program:12");
  // Files that people have called so
  EXPECT_EQ(source_place("opencl-1.cl", 2), "opencl-1.cl:2");
  EXPECT_EQ(source_place("opencl-matrixmultiplication.cl", 2), "opencl-matrixmultiplication.cl:2");
  EXPECT_EQ(source_place("opencl-.cl", 2), "opencl-.cl:2");
}

}  // namespace
}  // namespace simtlab::result
