// Sizes of a launch: what clEnqueueNDRangeKernel allows, and what it chooses.
#include "hosts/opencl/launch.h"

#include <gtest/gtest.h>

#include "device/catalogue.h"

namespace simtlab::hosts::opencl {
namespace {

class RangeTest : public testing::Test {
 protected:
  cl_int code_of(cl_uint dimensions, std::vector<size_t> global, std::vector<size_t> local,
                 std::vector<size_t> offset = {}) {
    try {
      range_ = make_range(device_, function_, dimensions, offset.empty() ? nullptr : offset.data(),
                          global.data(), local.empty() ? nullptr : local.data());
    } catch (const Failure& failure) { return failure.code; }
    return CL_SUCCESS;
  }
  const device::Device device_ = device::load_device("gtx480", {}).device;
  ptx::Function function_;
  Range range_;
};

TEST_F(RangeTest, GroupsAreGlobalOverLocal) {
  EXPECT_EQ(code_of(2, {160, 96}, {16, 8}), CL_SUCCESS);
  EXPECT_EQ(range_.groups, (exec::Dim3{10, 12, 1}));
  EXPECT_EQ(range_.local, (exec::Dim3{16, 8, 1}));
  EXPECT_FALSE(range_.has_offset);
}

TEST_F(RangeTest, ChoosesTheLargestDivisors) {
  EXPECT_EQ(code_of(2, {160, 160}, {}), CL_SUCCESS);
  EXPECT_EQ(range_.local, (exec::Dim3{160, 1, 1}));
  EXPECT_EQ(code_of(2, {32, 100}, {}), CL_SUCCESS);
  EXPECT_EQ(range_.local, (exec::Dim3{32, 5, 1}));
  EXPECT_EQ(code_of(1, {1021}, {}), CL_SUCCESS);  // prime, and more than 256
  EXPECT_EQ(range_.local, (exec::Dim3{1, 1, 1}));
  EXPECT_EQ(code_of(3, {2, 2, 128}, {}), CL_SUCCESS);
  EXPECT_EQ(range_.local, (exec::Dim3{2, 2, 64}));
}

TEST_F(RangeTest, ARequiredSizeIsTakenAndInsistedOn) {
  function_.req_ntid[0] = 8;
  function_.req_ntid[1] = 4;
  function_.req_ntid[2] = 1;
  EXPECT_EQ(code_of(2, {64, 64}, {}), CL_SUCCESS);
  EXPECT_EQ(range_.local, (exec::Dim3{8, 4, 1}));
  EXPECT_EQ(code_of(2, {64, 64}, {4, 8}), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(code_of(2, {60, 64}, {}), CL_INVALID_WORK_GROUP_SIZE);
}

TEST_F(RangeTest, RefusesWithTheCodesOfOpenCl) {
  EXPECT_EQ(code_of(0, {1}, {}), CL_INVALID_WORK_DIMENSION);
  EXPECT_EQ(code_of(4, {1, 1, 1, 1}, {}), CL_INVALID_WORK_DIMENSION);
  EXPECT_EQ(code_of(1, {0}, {}), CL_INVALID_GLOBAL_WORK_SIZE);
  EXPECT_EQ(code_of(1, {std::size_t{1} << 40}, {}), CL_INVALID_GLOBAL_WORK_SIZE);
  EXPECT_EQ(code_of(1, {65535 * 2}, {2}), CL_SUCCESS);
  EXPECT_EQ(code_of(1, {65536 * 2}, {2}), CL_INVALID_GLOBAL_WORK_SIZE);  // a GTX 480 has no larger grid
  EXPECT_EQ(code_of(1, {10}, {4}), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(code_of(1, {10}, {0}), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(code_of(1, {4096}, {2048}), CL_INVALID_WORK_ITEM_SIZE);
  EXPECT_EQ(code_of(2, {64, 64}, {64, 32}), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(code_of(1, {16}, {16}, {std::size_t{1} << 32}), CL_INVALID_GLOBAL_OFFSET);
}

TEST_F(RangeTest, RegistersLimitAGroup) {
  function_.registers = 63;
  EXPECT_EQ(most_work_items(device_, function_), 512u);
  function_.registers = 16;
  EXPECT_EQ(most_work_items(device_, function_), 1024u);
}

TEST(Registry, KnowsLivingHandlesOnly) {
  auto object = std::make_shared<Context>();
  object->hand_out();
  const Handle* handle = object->handle();
  EXPECT_EQ(find<Context>(handle), object);
  EXPECT_EQ(find<Queue>(handle), nullptr);
  EXPECT_EQ(find<Context>(&object), nullptr);
  EXPECT_TRUE(object->retain());
  EXPECT_EQ(object->references(), 2u);
  EXPECT_TRUE(object->release());
  EXPECT_TRUE(object->release());
  EXPECT_FALSE(object->release());
  EXPECT_NE(find<Context>(handle), nullptr);  // something else holds it
  object.reset();
  EXPECT_EQ(find<Context>(handle), nullptr);
  EXPECT_NE(handle->dispatch, nullptr);  // a loader may still look
}

}  // namespace
}  // namespace simtlab::hosts::opencl
