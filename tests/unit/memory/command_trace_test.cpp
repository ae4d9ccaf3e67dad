#include "memory/dram/command_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "memory/dram/checker.h"

namespace simtlab::memory::dram {
namespace {

using ::testing::HasSubstr;

std::vector<CommandRecord> read_all(CommandTraceReader& reader, std::string_view text) {
  std::vector<CommandRecord> records;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    CommandRecord r;
    if (reader.read(text.substr(0, end), r)) records.push_back(r);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return records;
}

std::string refusal(std::string_view text) {
  try {
    CommandTraceReader reader("trace.txt");
    read_all(reader, text);
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "dram-command-trace");
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    EXPECT_FALSE(e.diagnostics().front().hint.empty());
    return e.format();
  }
  return "accepted";
}

TEST(CommandTrace, WhatIsWrittenIsReadBack) {
  std::string text = command_trace_header("hbm3-h100");
  std::vector<CommandRecord> written;
  for (unsigned c = 0; c < command_count; ++c) {
    CommandRecord r{.at = 10 * c,
                    .command = static_cast<Command>(c),
                    .pseudo = 1,
                    .rank = 2,
                    .group = 0,
                    .bank = 0,
                    .channel = 17,
                    .row = 0,
                    .column = 0};
    const bool column = is_column(r.command), bank = column || r.command == Command::act ||
                                                     r.command == Command::pre || r.command == Command::refpb;
    if (bank) r.group = 3, r.bank = 15;
    if (column || r.command == Command::act) r.row = 0xffffffff;
    if (column) r.column = 31;
    append_command(text, r);
    written.push_back(r);
  }
  CommandTraceReader reader("t");
  const std::vector<CommandRecord> back = read_all(reader, text);
  EXPECT_EQ(reader.technology(), "hbm3-h100");
  ASSERT_EQ(back.size(), written.size());
  for (std::size_t i = 0; i < back.size(); ++i) {
    std::string a, b;
    append_command(a, written[i]);
    append_command(b, back[i]);
    EXPECT_EQ(a, b);
  }
}

// Lines as DRAMsim3 prints them, with -1 for what a command does not name.
TEST(CommandTrace, ReadsThoseOfDramsim3) {
  CommandTraceReader reader("dramsim3ch_0cmd.trace");
  const auto r = read_all(reader,
                          "3                  activate               1   0   2   1    0x1a3        0\n"
                          "20                 read                   1   0   2   1    0x1a3     0x1f\n"
                          "42                 precharge             -1   0   2   1     -0x1     -0x1\n"
                          "\n"
                          "9360               refresh               -1   1  -1  -1     -0x1     -0x1\r\n"
                          "9900               write_p                1   1   0   3        0      0x3\n"
                          "10000              refresh_bank          -1   1   3   2     -0x1     -0x1\n");
  EXPECT_EQ(reader.technology(), "");
  ASSERT_EQ(r.size(), 6u);
  EXPECT_EQ(r[0].command, Command::act);
  EXPECT_EQ(r[0].row, 0x1a3u);
  EXPECT_EQ(r[0].channel, 1u);
  EXPECT_EQ(r[1].column, 0x1fu);
  EXPECT_EQ(r[2].command, Command::pre);
  EXPECT_EQ(r[2].group, 2);
  EXPECT_EQ(r[2].channel, 1u) << "left out: that of the line before";
  EXPECT_EQ(r[2].row, 0u);
  EXPECT_EQ(r[3].command, Command::ref);
  EXPECT_EQ(r[3].rank, 1);
  EXPECT_EQ(r[4].command, Command::wra);
  EXPECT_EQ(r[5].command, Command::refpb);
  EXPECT_EQ(r[5].bank, 2);
}

TEST(CommandTrace, WhatCantBeReadIsRefusedAtItsPlace) {
  const std::string head = "# simtlab-commands 1 ddr4-2400\n";
  EXPECT_EQ(refusal(head + "# a comment\n\n5 ACT 0 0 0 0 0 0 0\n"), "accepted");
  EXPECT_THAT(refusal("# simtlab-commands 2 ddr4-2400\n"), HasSubstr("trace.txt:1:20: error: version '2'"));
  EXPECT_THAT(refusal(head + "5 ACTIVATE 0 0 0 0 0 0 0"),
              HasSubstr("trace.txt:2:3: error: unknown command 'ACTIVATE'"));
  EXPECT_THAT(refusal(head + "5"), HasSubstr("the line has no command"));
  EXPECT_THAT(refusal(head + "5 ACT 0 0 0 0 0 0"), HasSubstr("the line ends before the column"));
  EXPECT_THAT(refusal(head + "5 ACT 0 0 0 0 0 0 0 0"), HasSubstr("more than the format has on a line"));
  EXPECT_THAT(refusal(head + "5 ACT 0 0 0 0 x 0 0"), HasSubstr("'x' is not a number"));
  EXPECT_THAT(refusal(head + "5 ACT 0 0 0 0 -1 0 0"), HasSubstr("'-1' is not a number"));
  EXPECT_THAT(refusal(head + "5 ACT 0 0 256 0 0 0 0"), HasSubstr("'256' is too large"));
  EXPECT_THAT(refusal(head + "5 ACT 65536 0 0 0 0 0 0"), HasSubstr("'65536' is too large"));
  EXPECT_THAT(refusal(head + "99999999999999999999999 ACT 0 0 0 0 0 0 0"), HasSubstr("is too large"));
  EXPECT_THAT(refusal("5 ACT 0 0 0 0 0 0 0"), HasSubstr("a trace of ours begins with"));
  EXPECT_THAT(refusal("5 read 0 0 0 0 -0x1 0x0"), HasSubstr("'-0x1' is not a number"));
  EXPECT_THAT(refusal("binary \x01\x02"), HasSubstr("error"));
}

// The commands of one read in DRAMsim3's format, once as its DDR4-2400 does it and once a clock early.
TEST(CommandTrace, OfDramsim3IsChecked) {
  const auto t = device::load_technology("ddr4-2400").technology;
  for (const bool early : {false, true}) {
    CommandTraceReader reader("t");
    CommandChecker checker(t);
    const std::string read = early ? "18" : "19";
    for (const CommandRecord& r :
         read_all(reader, "2 activate 0 0 0 0 0x0 0x0\n" + read + " read 0 0 0 0 0x0 0x0\n"))
      checker.command(r);
    EXPECT_EQ(checker.violation().has_value(), early);
  }
}

}  // namespace
}  // namespace simtlab::memory::dram
