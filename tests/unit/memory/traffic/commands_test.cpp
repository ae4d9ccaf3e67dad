#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "device/technology.h"
#include "memory/dram/command_trace.h"
#include "memory/traffic/command_trace.h"
#include "memory/traffic/timeline.h"

namespace simtlab::memory::traffic {
namespace {

using memory::dram::Command;
using memory::dram::CommandRecord;
using ::testing::HasSubstr;
using ::testing::Not;

class Commands : public ::testing::Test {
 protected:
  Commands() : technology_(device::load_technology("ddr4-3200").technology) {}
  ~Commands() override { std::filesystem::remove(file_); }

  std::string written() { return read_file(file_, 1 << 20); }
  static void send(memory::dram::CommandSink& sink) {
    sink.command({.at = 5, .command = Command::act, .group = 1, .bank = 2, .row = 26});
    sink.command({.at = 27, .command = Command::rd, .group = 1, .bank = 2, .row = 26, .column = 3});
    sink.command({.at = 60, .command = Command::pde});
    sink.command({.at = 70, .command = Command::pdx});
    sink.command({.at = 90, .command = Command::prea});
    sink.command({.at = 112, .command = Command::ref});
  }

  device::Technology technology_;
  std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("simtlab-commands-" + std::to_string(::getpid()));
};

TEST_F(Commands, are_written_one_a_line) {
  CommandTrace trace(file_, command_format_named("simtlab"), technology_);
  send(trace);
  trace.close();
  memory::dram::CommandTraceReader reader("t");
  std::string text = written();
  std::vector<std::string> read;
  for (std::size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
    if (CommandRecord r; reader.read(text.substr(0, end), r))
      read.push_back(std::to_string(r.at) + " " + std::string(name(r.command)) + " " + std::to_string(r.row));
  EXPECT_EQ(reader.technology(), "ddr4-3200");
  EXPECT_THAT(
      read, ::testing::ElementsAre("5 ACT 26", "27 RD 26", "60 PDE 0", "70 PDX 0", "90 PREA 0", "112 REF 0"));
}

TEST_F(Commands, are_written_as_dramsim3_writes_them) {
  CommandTrace trace(file_, command_format_named("dramsim3"), technology_);
  send(trace);
  trace.close();
  const std::string text = written();
  EXPECT_THAT(text, HasSubstr("5                  activate               0   0   1   2     0x1a      0x0\n"));
  EXPECT_THAT(text, HasSubstr("27                 read                   0   0   1   2     0x1a      0x3\n"));
  EXPECT_THAT(text, HasSubstr("112                refresh                0   0   0   0"));
  std::size_t precharges = 0;
  for (std::size_t at = text.find("precharge"); at != std::string::npos; at = text.find("precharge", at + 1))
    ++precharges;
  EXPECT_EQ(precharges, 16u);
  EXPECT_THROW(command_format_named("verilog"), Error);
}

TEST_F(Commands, make_a_timeline_of_a_window) {
  CommandTimeline timeline(file_, technology_, 0, 112);
  send(timeline);
  timeline.close();
  const std::string text = written();
  EXPECT_THAT(text, HasSubstr(R"("name": "group 1 bank 2")"));
  // The row from its activation to the precharge of all banks: 85 clocks of 0.625 ns.
  EXPECT_THAT(text, HasSubstr(R"("name": "row 0x1a", "pid": 0, "tid": 9, "ts": 0.003125, "dur": 0.053125)"));
  // Data of the read: CL after its command.
  EXPECT_THAT(text, HasSubstr(R"("name": "read", "pid": 0, "tid": 1, "ts": 0.030625)"));
  EXPECT_THAT(text, HasSubstr(R"("name": "power-down")"));
  EXPECT_THAT(text, Not(HasSubstr("\"REF\"")));
}

}  // namespace
}  // namespace simtlab::memory::traffic
