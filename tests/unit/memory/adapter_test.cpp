// What the adapters to other simulators share; the simulators themselves are not here.
#include "../../../adapters/adapter.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

namespace simtlab::adapter {
namespace {

TEST(Adapter, OptionsAreAFileAndKeysThatSomebodyAsksFor) {
  Options options("a.ini,peak=29.6,output=/x");
  EXPECT_EQ(options.file, "a.ini");
  EXPECT_EQ(options.take_number("peak", 0), 29.6);
  EXPECT_EQ(options.take("output", "/tmp"), "/x");
  EXPECT_EQ(options.take("system", "none"), "none");
  options.done();
  EXPECT_THROW(Options("a.ini,peek=1").done(), std::runtime_error);
  EXPECT_THROW(Options("a.ini,peak"), std::runtime_error);
  EXPECT_THROW(Options("a.ini,peak=fast").take_number("peak", 0), std::exception);
  EXPECT_THROW(Options("").readable_file(), std::runtime_error);
  EXPECT_THROW(Options("/nowhere/a.ini").readable_file(), std::runtime_error);
}

TEST(Adapter, OfEqualAddressesTheOldestIsAnsweredFirst) {
  ByAddress ids;
  ids.add(64, 1);
  ids.add(128, 2);
  ids.add(64, 3);
  EXPECT_EQ(ids.take(64), 1u);
  EXPECT_EQ(ids.take(64), 3u);
  EXPECT_THROW(ids.take(64), std::runtime_error);
  EXPECT_EQ(ids.take(128), 2u);
}

TEST(Adapter, AValueIsFoundInTheirFiles) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "simtlab-adapter-test.ini";
  std::ofstream(path) << "[system]\n; channels = 9\n channels = 2 ; two\nNUM_CHANS=1\t\t; one\n";
  EXPECT_EQ(value_in_file(path, "channels"), "2");
  EXPECT_EQ(value_in_file(path, "NUM_CHANS"), "1");
  EXPECT_EQ(value_in_file(path, "rows"), "");
  std::filesystem::remove(path);
}

// A simulator of one clock, through the C functions.
class OneClock final : public Simulator {
 public:
  OneClock() { info = {1000, 0, 0, 64}; }
  bool accepts(std::uint64_t, bool) override { return !under_way_; }
  void add(std::uint64_t address, bool, std::uint32_t, std::uint64_t id) override {
    if (address == 13) throw std::runtime_error("13 is no address");
    id_ = id;
    under_way_ = true;
  }
  void tick() override {
    if (std::exchange(under_way_, false)) answer(id_);
  }

 private:
  std::uint64_t id_ = 0;
  bool under_way_ = false;
};

TEST(Adapter, TheInterfaceRunsItAndKeepsItsExceptionsInside) {
  char error[64] = "";
  const auto make = [](Options& options) -> std::unique_ptr<Simulator> {
    if (options.file == "bad") throw std::runtime_error("bad is no file");
    return std::make_unique<OneClock>();
  };
  EXPECT_EQ(Glue::create(make, "bad", error, sizeof error), nullptr);
  EXPECT_STREQ(error, "bad is no file");
  EXPECT_EQ(Glue::create(make, "good,colour=red", error, sizeof error), nullptr);
  EXPECT_STREQ(error, "unknown key 'colour'");
  simtlab_memory* m = Glue::create(make, "good", error, sizeof error);
  ASSERT_NE(m, nullptr);
  std::uint64_t answered[2] = {0, 0};
  const auto done = [](void* context, std::uint64_t id, std::uint64_t cycle) {
    static_cast<std::uint64_t*>(context)[0] = id;
    static_cast<std::uint64_t*>(context)[1] = cycle;
  };
  EXPECT_EQ(Glue::advance(m, 10, done, answered), 0);
  EXPECT_EQ(Glue::add(m, 64, 0, 0, 7), 0);
  EXPECT_EQ(Glue::will_accept(m, 0, 0), 0);
  EXPECT_EQ(Glue::advance(m, 11, done, answered), 0);
  EXPECT_EQ(answered[0], 7u);
  EXPECT_EQ(answered[1], 10u);
  EXPECT_NE(Glue::add(m, 13, 0, 0, 8), 0);
  EXPECT_STREQ(Glue::last_error(m), "13 is no address");
  Glue::destroy(m);
}

}  // namespace
}  // namespace simtlab::adapter
