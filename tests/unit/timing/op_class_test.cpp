// device/ may not include ptx/, so the two lists of operation classes are compared where both are seen.
#include <gtest/gtest.h>

#include "device/device.h"
#include "ptx/op.h"

namespace simtlab::timing {
namespace {

TEST(OpClassNames, DeviceFilesAndDecoderNameTheSameClassesInTheSameOrder) {
  ASSERT_EQ(device::op_class_names.size(), static_cast<std::size_t>(ptx::OpClass::count_));
  for (std::size_t i = 0; i < device::op_class_names.size(); ++i)
    EXPECT_EQ(device::op_class_names[i], ptx::name_of(static_cast<ptx::OpClass>(i)));
}

}  // namespace
}  // namespace simtlab::timing
