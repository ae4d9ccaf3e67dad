// The probes find what the device file says.
#include "studies/validate/probe.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "device/catalogue.h"
#include "studies/validate/reference.h"

namespace simtlab::studies::validate {
namespace {

std::string ptx() { return read_file(device::data_directory() / "probes" / "validate.ptx", 1 << 20); }

TEST(Probe, ChasesFindTheLatenciesOfTheDevice) {
  const device::Device d = device::load_device("v100", {{"dram.model", "simple", {}}}).device;
  Probe probe(d, ptx());
  EXPECT_NEAR(probe.chase(32 << 10), d.l1.latency, 0.02 * d.l1.latency);
  EXPECT_NEAR(probe.chase(512 << 10), d.l2.latency, 0.02 * d.l2.latency);
  EXPECT_NEAR(probe.chase(64 << 20), d.dram.latency, 0.02 * d.dram.latency);
}

// A difference of two runs may be a little above the peak.
TEST(Probe, ReadsReachTheBandwidthsOfTheDevice) {
  device::Device d = device::load_device("v100", {{"dram.model", "simple", {}}}).device;
  d.sm.count = 8;  // fewer, so that it is quick
  d.l2.bytes_per_cycle /= 10;
  d.dram.bandwidth /= 10;
  d.dram.bandwidth_measured /= 10;
  d.dram.read_bandwidth_measured /= 10;
  Probe probe(d, ptx());
  const double l1 = d.l1.bytes_per_cycle * d.sm.count * d.sm_clock_hz,
               l2 = d.l2.bytes_per_cycle * d.sm_clock_hz;
  EXPECT_GT(probe.cache_bandwidth(64 << 10), 0.9 * l1);
  EXPECT_LE(probe.cache_bandwidth(64 << 10), 1.02 * l1);
  EXPECT_GT(probe.shared_bandwidth(1 << 20), 0.85 * l2);
  EXPECT_LE(probe.shared_bandwidth(1 << 20), 1.02 * l2);
  EXPECT_GT(probe.memory_read(), 0.9 * d.dram.read_bandwidth_measured);
  EXPECT_LE(probe.memory_read(), 1.02 * d.dram.read_bandwidth_measured);
  EXPECT_GT(probe.memory_scale(), 0.9 * d.dram.bandwidth_measured);
  EXPECT_LE(probe.memory_scale(), 1.02 * d.dram.bandwidth_measured);
}

// Its blocks are as many as the GPU holds, or what the SMs wait for at the end of a wave counts as bandwidth.
TEST(Probe, ReadsOfALargeGpuWithL2InPartsReachItsBandwidth) {
  const device::Device d = device::load_device("a100").device;
  const double reads = Probe(d, ptx()).shared_bandwidth(4 << 20), l2 = d.l2.bytes_per_cycle * d.sm_clock_hz;
  EXPECT_GT(reads, 0.9 * l2);
  EXPECT_LE(reads, 1.02 * l2);
}

TEST(Probe, EveryTableOfMeasurementsIsReadAndNamesDevices) {
  for (const char* file : {"latency.csv", "cache-bandwidth.csv", "l2-bandwidth.csv", "levels.csv"}) {
    const Table table = Table::read(device::data_directory() / "measured" / file);
    EXPECT_FALSE(devices_of(table).empty()) << file;
    for (std::size_t i = 0; i < table.size(); ++i) EXPECT_GT(table.number(i, "kib"), 0);
  }
  for (const char* file : {"kernels.csv", "gpgpusim.csv"}) {
    const Table kernels = Table::read(device::data_directory() / "measured" / file);
    for (std::size_t i = 0; i < kernels.size(); ++i) EXPECT_GT(kernels.number(i, "value"), 0);
  }
}

}  // namespace
}  // namespace simtlab::studies::validate
