#include "base/pulse.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"

namespace simtlab {
namespace {

std::filesystem::path fresh(const char* name) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove(path);
  return path;
}

TEST(Pulse, says_how_far_the_kernel_and_all_before_it_are) {
  Pulse pulse;
  EXPECT_EQ(text_of(reading_of(pulse)), "");
  pulse.begin_kernel("scan", 40);
  pulse.at(10, 40, 2'000'000, 30'000'000);
  EXPECT_EQ(text_of(reading_of(pulse)),
            "kernel scan: 10 of 40 blocks, 2.00 M cycles, 30 M warp instructions");
  pulse.end_kernel();
  const PulseReading between = reading_of(pulse);
  EXPECT_EQ(between.kernel, "");
  EXPECT_EQ(between.launches, 1u);
  pulse.begin_period();
  pulse.begin_kernel("sum", 1);
  pulse.at(0, 1, 1'000'000, 1);
  const PulseReading second = reading_of(pulse);
  EXPECT_EQ(second.cycles, 3'000'000u);
  EXPECT_EQ(second.instructions, 30'000'001u);
}

TEST(Pulse, a_long_name_is_cut_and_ends) {
  Pulse pulse;
  pulse.begin_kernel(std::string(1000, 'k'), 1);
  EXPECT_EQ(reading_of(pulse).kernel, std::string(Pulse::name_bytes - 1, 'k'));
  pulse.begin_kernel("k2", 1);
  EXPECT_EQ(reading_of(pulse).kernel, "k2");
}

TEST(Pulse, a_reader_sees_whole_names_only) {
  Pulse pulse;
  const std::string a(100, 'a'), b(100, 'b');
  std::atomic<bool> stop = false;
  pulse.begin_kernel(a, 7);
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) pulse.begin_kernel(i % 2 == 0 ? a : b, 7);
  });
  std::size_t seen = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string name = reading_of(pulse).kernel;
    EXPECT_TRUE(name.empty() || name == a || name == b) << name;
    seen += name.empty() ? 0 : 1;
  }
  stop = true;
  writer.join();
  const std::string last = reading_of(pulse).kernel;
  EXPECT_TRUE(last == a || last == b);
  RecordProperty("whole", static_cast<int>(seen));
}

TEST(Pulse, two_that_map_one_file_share_it_and_one_of_them_writes) {
  const std::filesystem::path path = fresh("pulse_shared");
  const PulseFile first(path, PulseFile::Mode::create), second(path, PulseFile::Mode::open);
  first.get()->begin_kernel("shared", 3);
  EXPECT_EQ(reading_of(*second.get()).kernel, "shared");
  EXPECT_TRUE(second.get()->claim(11));
  EXPECT_TRUE(second.get()->claim(11));
  EXPECT_FALSE(first.get()->claim(12));
}

TEST(Pulse, what_is_no_pulse_is_refused) {
  const std::filesystem::path path = fresh("pulse_short");
  std::ofstream(path) << "short";
  EXPECT_THROW(PulseFile(path, PulseFile::Mode::open), Error);
  EXPECT_THROW(PulseFile(path, PulseFile::Mode::create), Error);  // it is somebody's
  EXPECT_THROW(PulseFile(fresh("pulse_none"), PulseFile::Mode::open), Error);
}

}  // namespace
}  // namespace simtlab
