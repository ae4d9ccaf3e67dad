#include "base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace simtlab {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text, Unit unit) {
  try {
    parse_quantity(text, unit);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    EXPECT_FALSE(e.diagnostics().front().hint.empty()) << "no hint for " << text;
    return e.format();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(Units, reads_the_forms_people_write) {
  EXPECT_DOUBLE_EQ(parse_quantity("1.41 GHz", Unit::hertz), 1.41e9);
  EXPECT_DOUBLE_EQ(parse_quantity("1410MHz", Unit::hertz), 1.41e9);
  EXPECT_EQ(parse_quantity("192 KiB", Unit::bytes), 196608);
  EXPECT_EQ(parse_quantity("80 GB", Unit::bytes), 80e9);
  EXPECT_EQ(parse_quantity("350 ns", Unit::nanoseconds), 350);
  EXPECT_EQ(parse_quantity(" 2.5 us ", Unit::nanoseconds), 2500);
  EXPECT_DOUBLE_EQ(parse_quantity("3.35 TB/s", Unit::bytes_per_second), 3.35e12);
  EXPECT_EQ(parse_quantity("30 cycles", Unit::cycles), 30);
  EXPECT_EQ(parse_quantity("1 cycle", Unit::cycles), 1);
  EXPECT_EQ(parse_quantity("64 B/cycle", Unit::bytes_per_cycle), 64);
  EXPECT_EQ(parse_quantity("0.5 /cycle", Unit::per_cycle), 0.5);
  EXPECT_EQ(parse_quantity("64 bits", Unit::bits), 64);
  EXPECT_EQ(parse_quantity("3200 MT/s", Unit::megatransfers), 3200);
  EXPECT_EQ(parse_quantity("48 mA", Unit::milliamperes), 48);
  EXPECT_EQ(parse_quantity("1200 mV", Unit::volts), 1.2);
  EXPECT_EQ(parse_quantity("132", Unit::none), 132);
  EXPECT_EQ(parse_quantity("1e3 B", Unit::bytes), 1000);
}

TEST(Units, zero_needs_no_unit) { EXPECT_EQ(parse_quantity("0", Unit::bytes), 0); }

TEST(Units, refuses_a_bare_number_where_a_unit_is_needed) {
  EXPECT_THAT(error_of("1.41", Unit::hertz), HasSubstr("'1.41' has no unit"));
  EXPECT_THAT(error_of("1.41", Unit::hertz), HasSubstr("write for example \"1.41 GHz\""));
}

TEST(Units, refuses_the_wrong_unit_and_lists_the_right_ones) {
  EXPECT_THAT(error_of("48 KiB", Unit::hertz), HasSubstr("wrong unit 'KiB'"));
  EXPECT_THAT(error_of("48 ns", Unit::cycles), HasSubstr("units: cycles"));
  EXPECT_THAT(error_of("1.41 ghz", Unit::hertz), HasSubstr("GHz"));
  EXPECT_THAT(error_of("3 cycles", Unit::none), HasSubstr("not a plain number"));
}

TEST(Units, refuses_KB_because_it_may_mean_1000_or_1024) {
  EXPECT_THAT(error_of("48 KB", Unit::bytes), HasSubstr("write KiB for 1024 bytes or kB for 1000 bytes"));
}

TEST(Units, refuses_what_is_no_finite_non_negative_number) {
  EXPECT_THAT(error_of("", Unit::bytes), HasSubstr("empty value"));
  EXPECT_THAT(error_of("  ", Unit::bytes), HasSubstr("empty value"));
  EXPECT_THAT(error_of("-3 GHz", Unit::hertz), HasSubstr("negative"));
  for (const char* text : {"nan", "inf", "NaN GHz", "GHz", "+3 GHz", "0x10 B", ".", "e5"}) {
    EXPECT_THAT(error_of(text, Unit::hertz), testing::AnyOf(HasSubstr("number"), HasSubstr("unit"))) << text;
  }
  EXPECT_THAT(error_of("1e999 B", Unit::bytes), HasSubstr("out of range"));
  EXPECT_THAT(error_of("1e300 TB", Unit::bytes), HasSubstr("out of range"));
}

TEST(Units, shows_hostile_text_shortened_and_printable) {
  const std::string text = "\x01\n" + std::string(100000, 'x');
  const std::string message = error_of(text, Unit::bytes);
  EXPECT_LT(message.size(), 300U);
  EXPECT_EQ(message.find('\x01'), std::string::npos);
}

TEST(Units, whole_quantities_refuse_fractions_and_more_than_64_bits) {
  EXPECT_EQ(parse_whole_quantity("1.5 KiB", Unit::bytes), 1536U);
  EXPECT_EQ(parse_whole_quantity("18446744073709551615", Unit::none), UINT64_MAX);
  EXPECT_EQ(parse_whole_quantity("9007199254740993 B", Unit::bytes), 9007199254740993U);
  EXPECT_THROW(parse_whole_quantity("1.5", Unit::none), Error);
  EXPECT_THROW(parse_whole_quantity("18446744073709551616", Unit::none), Error);
  EXPECT_THROW(parse_whole_quantity("1e30 TiB", Unit::bytes), Error);
  EXPECT_THROW(parse_whole_quantity("-1", Unit::none), Error);
}

TEST(Units, formats_the_shortest_form) {
  EXPECT_EQ(format_quantity(196608, Unit::bytes), "192 KiB");
  EXPECT_EQ(format_quantity(80e9, Unit::bytes), "80 GB");
  EXPECT_EQ(format_quantity(1.98e9, Unit::hertz), "1.98 GHz");
  EXPECT_EQ(format_quantity(3.35e12, Unit::bytes_per_second), "3.35 TB/s");
  EXPECT_EQ(format_quantity(0.5, Unit::nanoseconds), "0.5 ns");
  EXPECT_EQ(format_quantity(1000, Unit::nanoseconds), "1 us");
  EXPECT_EQ(format_quantity(350, Unit::nanoseconds), "350 ns");
  EXPECT_EQ(format_quantity(30.5, Unit::cycles), "30.5 cycles");
  EXPECT_EQ(format_quantity(132, Unit::none), "132");
  EXPECT_EQ(format_quantity(0, Unit::bytes), "0 B");
}

TEST(Units, reads_back_exactly_what_it_formats) {
  for (const Unit unit : {Unit::none, Unit::hertz, Unit::bytes, Unit::nanoseconds, Unit::cycles,
                          Unit::bytes_per_second, Unit::bytes_per_cycle, Unit::per_cycle}) {
    for (const double value :
         {0.0, 0.1, 1.0 / 3, 1.0, 4096.0, 1536.0, 1.98e9, 3.35e12, 85.5e9, 1e18, 123456789.0}) {
      EXPECT_EQ(parse_quantity(format_quantity(value, unit), unit), value) << format_quantity(value, unit);
    }
  }
}

}  // namespace
}  // namespace simtlab
