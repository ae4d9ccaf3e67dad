// Which classes of instructions share a pipeline.
#include "timing/pipes.h"

#include <gtest/gtest.h>

#include "simulator.h"

namespace simtlab::timing {
namespace {

using ptx::OpClass;

TEST(Pipes, ConversionsOf64BitsRunInTheFp64UnitsWhereTheyAreAsFast) {
  device::Device device = device_of("titanx-maxwell");
  ASSERT_EQ(device.throughput[static_cast<std::size_t>(OpClass::convert64)],
            device.throughput[static_cast<std::size_t>(OpClass::fp64)]);
  EXPECT_EQ(PipeTable(device)[OpClass::convert64].pipe, Pipe::fp64);
  EXPECT_EQ(PipeTable(device)[OpClass::convert].pipe, Pipe::xu);
  device.throughput[static_cast<std::size_t>(OpClass::convert64)] /= 2;
  EXPECT_EQ(PipeTable(device)[OpClass::convert64].pipe, Pipe::xu);
  EXPECT_EQ(PipeTable(device_of("v100"))[OpClass::convert64].pipe, Pipe::xu);  // 16 of 32 a cycle
}

}  // namespace
}  // namespace simtlab::timing
