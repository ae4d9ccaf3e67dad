#include "memory/traffic/trace_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "texts.h"

namespace simtlab::memory::traffic {
namespace {

using ::testing::HasSubstr;

struct Sample {
  const char *format, *text;
  std::uint64_t address;
  bool write;
};

// The second access of each: the first line alone would not tell what a reader keeps from line to line.
class EveryFormat : public ::testing::TestWithParam<Sample> {};

TEST_P(EveryFormat, is_recognised_and_read) {
  const auto trace = reader(GetParam().text);
  EXPECT_EQ(trace->format().name, GetParam().format);
  const std::vector<Access> accesses = all(*trace);
  ASSERT_GE(accesses.size(), 2u);
  EXPECT_EQ(accesses[1].address, GetParam().address);
  EXPECT_EQ(accesses[1].write, GetParam().write);
  EXPECT_FALSE(accesses[0].write);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, EveryFormat,
    ::testing::Values(Sample{"k6", "0x10 P_FETCH 5\n0xFf P_MEM_WR 7\n", 0xff, true},
                      Sample{"k6", "0x10 P_MEM_RD 5\n0x20 P_LOCK_WR 7\n", 0x20, false},
                      Sample{"k6", "0x10 P_MEM_RD 5\n0x20 BOFF 7\n", 0x20, true},
                      Sample{"mase", "0x10 IFETCH 1\n0x40 WRITE 1\n", 0x40, true},
                      Sample{"misc", "0x10 read\n0x40 write 00000000deadbeef\n", 0x40, true},
                      Sample{"dramsim3", "1000 READ 1\n0x40 WRITE 1\n", 0x40, true},
                      Sample{"dramsim3", "0x10 FETCH 1\n0x40 write 3\n", 0x40, true},
                      Sample{"ramulator1-dram", "0x10 R\r\n0x40 W\r\n", 0x40, true},
                      Sample{"simpleo3", "3 4096\n8 20841280 64\n", 20841280, false},
                      Sample{"ramulator1-cpu", "3 4096 R\n8 0x80 W\n", 0x80, true},
                      Sample{"loadstore", "# a comment\nLD 0x10\n\nST 4096\n", 4096, true}));

TEST(TraceReader, keeps_cycles_of_timed_traces) {
  const auto trace = reader("0x10 READ 5\n0x20 READ 5\n0x30 READ 1152921504606846975\n");
  EXPECT_EQ(trace->pace(), Pace::timed);
  const auto accesses = all(*trace);
  EXPECT_EQ(accesses[0].cycle, 5u);
  EXPECT_EQ(accesses[2].cycle, 1152921504606846975u);
}

TEST(TraceReader, a_core_line_is_a_load_and_then_its_write_back) {
  const auto trace = reader("8 128 256\n2 64\n");
  EXPECT_EQ(trace->pace(), Pace::instructions);
  const auto accesses = all(*trace);
  ASSERT_EQ(accesses.size(), 3u);
  EXPECT_EQ(accesses[0].bubbles, 8u);
  EXPECT_EQ(accesses[1].address, 256u);
  EXPECT_EQ(accesses[1].bubbles, 0u);
  EXPECT_TRUE(accesses[1].write);
  EXPECT_EQ(accesses[2].bubbles, 2u);
  EXPECT_FALSE(accesses[2].write);
}

TEST(TraceReader, reads_places) {
  const auto trace = reader("R 0,1,2,3,100,32\nW 1,0,0,0,5,6\n");
  EXPECT_EQ(trace->format().name, "readwrite");
  const auto accesses = all(*trace);
  ASSERT_EQ(accesses[0].levels, 6);
  EXPECT_EQ(accesses[0].level[4], 100u);
  EXPECT_EQ(accesses[1].level[5], 6u);
  EXPECT_TRUE(accesses[1].write);
}

TEST(TraceReader, the_name_of_a_file_chooses_among_formats_that_fit) {
  const auto trace = reader("0x10 write 12\n0x20 write 13\n", nullptr, "dir/misc_a.trc");
  EXPECT_EQ(trace->format().name, "misc");
  EXPECT_EQ(reader("0x10 write 12\n0x20 write 13\n")->format().name, "dramsim3");
  EXPECT_EQ(reader("0x10 R\n", nullptr, "misc_a.trc")->format().name, "ramulator1-dram");
}

struct Bad {
  const char *text, *format, *id, *message;
  unsigned line, column;
};

class BadTrace : public ::testing::TestWithParam<Bad> {};

TEST_P(BadTrace, says_where_and_what) {
  const Bad& bad = GetParam();
  try {
    const auto trace = reader(bad.text, bad.format);
    all(*trace);
    FAIL() << "accepted: " << bad.text;
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), bad.id);
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    const Diagnostic& d = e.diagnostics().front();
    EXPECT_THAT(d.message, HasSubstr(bad.message));
    EXPECT_EQ(d.pos.line, bad.line);
    EXPECT_EQ(d.pos.column, bad.column);
    EXPECT_FALSE(d.hint.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Lines, BadTrace,
    ::testing::Values(
        Bad{"0x10 READ 1\n0x20 WRITE -5\n", nullptr, "trace-syntax", "'-5' is a negative number", 2, 12},
        Bad{"0x10 READ 1\n0x11223344556677889 READ 2\n", nullptr, "trace-syntax", "does not fit 64 bits", 2,
            1},
        Bad{"0x10 READ 1\n0x20 READ 18446744073709551616\n", nullptr, "trace-syntax", "fit 64 bits", 2, 11},
        Bad{"0x10 READ 1\n0x20 READ 1152921504606846976\n", nullptr, "trace-syntax", "no simulation", 2, 11},
        Bad{"0x10 READ 9\n0x20 READ 8\n", "mase", "trace-order", "cycle 8 comes after cycle 9", 2, 1},
        Bad{"0x10 READ 9\n0x20 READ\n", nullptr, "trace-syntax", "the cycle is missing", 2, 10},
        Bad{"0x10 READ 9\n0x20 RE", nullptr, "trace-syntax", "the file ends within this line", 2, 6},
        Bad{"0x10 R\n0xZZ R\n", nullptr, "trace-syntax", "not a hexadecimal number", 2, 1},
        Bad{"0x10 R\n0x10 R 7\n", nullptr, "trace-syntax", "'7' is more than", 2, 8},
        Bad{"10 P_FETCH 4\n", "k6", "trace-syntax", "'10' is an address without 0x", 1, 1},
        Bad{"0x10 W 4\n", "dramsim3", "trace-syntax", "takes for a read", 1, 6},
        Bad{"LD 12\nLD 0x\n", nullptr, "trace-syntax", "not a decimal number", 2, 4},
        Bad{"LD 12\nSTORE 5\n", nullptr, "trace-syntax", "'STORE' is no operation (LD, ST)", 2, 1},
        Bad{"3 64\n-1 64\n", nullptr, "trace-syntax", "negative", 2, 1},
        Bad{"3 64 W\n", "simpleo3", "trace-syntax", "'W' is not a decimal", 1, 6},
        Bad{"R 0,1,x\n", "readwrite", "trace-syntax", "list of decimal numbers", 1, 3},
        Bad{"R 0,,1\n", "readwrite", "trace-syntax", "list of decimal numbers", 1, 3},
        Bad{"R 0,4294967296\n", "readwrite", "trace-syntax", "32 bits", 1, 3},
        Bad{"R 1,2,3,4,5,6,7,8,9\n", "readwrite", "trace-syntax", "more levels", 1, 3},
        Bad{"# what\nhello world\n", nullptr, "trace-unknown", "no trace format", 2, 1},
        Bad{"", nullptr, "trace-empty", "no access", 0, 0},
        Bad{"\n# nothing\n\n", "k6", "trace-empty", "no access", 0, 0}));

TEST(TraceReader, refuses_a_line_without_end) {
  const std::string text = "0x10 R\n" + std::string(max_line_bytes * 200, '0');
  const auto trace = reader(text);
  Access access;
  EXPECT_TRUE(trace->next(access));
  try {
    trace->next(access);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "trace-line");
    EXPECT_EQ(e.diagnostics().front().pos.line, 2u);
  }
}

std::string long_trace(unsigned lines) {
  std::string text;
  for (unsigned i = 0; i < lines; ++i) text += fmt::format("0x{:x} {}\n", i * 64, i % 3 == 0 ? 'W' : 'R');
  return text;
}

// Much longer than any buffer on the way.
TEST(TraceReader, reads_compressed_traces_of_several_members) {
  const std::string text = long_trace(100000), half = long_trace(50000);
  for (const std::string& packed :
       {gzip(text), zstd(text), gzip(half) + gzip(half), zstd(half) + zstd(half)}) {
    const auto trace = reader(packed);
    EXPECT_FALSE(trace->compression().empty());
    std::uint64_t count = 0;
    for (Access access; trace->next(access);) ++count;
    EXPECT_EQ(count, 100000u);
  }
}

TEST(TraceReader, says_that_a_compressed_trace_ends_too_early_or_is_damaged) {
  const std::string text = long_trace(100000);
  for (std::string packed : {gzip(text), zstd(text)}) {
    for (const bool damaged : {false, true}) {
      std::string bad = packed;
      if (damaged)
        for (std::size_t i = bad.size() / 2; i < bad.size() / 2 + 200; ++i)
          bad[i] = static_cast<char>(bad[i] ^ 0x55);
      else
        bad.resize(bad.size() / 2);
      try {
        all(*reader(bad));
        FAIL();
      } catch (const Error& e) {
        // What a damaged block decodes to may also be no line of the format.
        if (e.id() == "trace-syntax" && damaged) continue;
        EXPECT_EQ(e.id(), damaged ? "trace-damaged" : "trace-truncated");
        EXPECT_GT(e.diagnostics().front().pos.line, 0u);
      }
    }
  }
}

TEST(TraceReader, knows_the_names_of_its_formats) {
  for (const Format& f : formats()) EXPECT_EQ(&format_named(f.name), &f);
  try {
    format_named("dramsim4");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    EXPECT_THAT(e.format(), HasSubstr("did you mean dramsim3?"));
  }
}

}  // namespace
}  // namespace simtlab::memory::traffic
