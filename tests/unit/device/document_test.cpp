// What a device file may look like, and what happens to one that does not.
#include "device/document.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/rng.h"
#include "device/catalogue.h"
#include "device/parameters.h"

namespace simtlab::device {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DeviceFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "simtlab-device-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) {
    const fs::path path = folder_ / name;
    write_file_atomically(path, text);
    return path.string();
  }

  std::string error_of(std::string_view text) {
    const std::string path = write("gpu.toml", text);
    try {
      load_device(path);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_input);
      return e.format();
    }
    ADD_FAILURE() << "accepted: " << text.substr(0, 200);
    return {};
  }

  fs::path folder_;
};

TEST_F(DeviceFile, states_only_what_differs_from_the_device_it_inherits) {
  const std::string path = write("half.toml",
                                 "inherits = \"h100\"\n"
                                 "[sources]\nme = \"measured at home\"\n"
                                 "[sm]\ncount = { value = 66, source = \"me: half of it\" }\n"
                                 "clock = { value = \"1 GHz\", estimated = \"a round number\" }\n"
                                 "[dram]\nbandwidth_measured = { value = \"2 TB/s\", source = \"me\" }\n");
  const LoadedDevice half = load_device(path);
  const LoadedDevice whole = load_device("h100");
  EXPECT_EQ(half.device.name, "half");
  EXPECT_EQ(half.device.sm.count, 66U);
  EXPECT_EQ(half.device.sm_clock_hz, 1e9);
  EXPECT_EQ(half.device.l1.bytes, whole.device.l1.bytes);
  for (std::size_t i = 0; i < half.entries.size(); ++i) {
    const Entry& entry = half.entries[i];
    if (entry.key == "sm.count") {
      EXPECT_EQ(entry.value, "66");
      EXPECT_EQ(entry.origin.where, path + ":5");
      EXPECT_EQ(entry.origin.source, "measured at home: half of it");
      EXPECT_FALSE(entry.origin.estimated);
    } else if (entry.key == "sm.clock") {
      EXPECT_EQ(entry.value, "1 GHz");
      EXPECT_TRUE(entry.origin.estimated);
      EXPECT_EQ(entry.origin.source, "a round number");
    } else if (entry.key == "dram.model") {  // the value of the file is one of the simple memory
      EXPECT_EQ(entry.value, "simple");
      EXPECT_EQ(entry.origin.source, "dram.bandwidth_measured is a value of the simple memory");
    } else if (entry.origin.layer != "default" && !entry.key.starts_with("dram.") &&
               entry.key.find('.') != std::string::npos) {
      EXPECT_EQ(entry.value, whole.entries[i].value) << entry.key;
      EXPECT_THAT(entry.origin.where, HasSubstr("h100.toml:")) << entry.key;
    }
  }
}

TEST_F(DeviceFile, may_inherit_from_a_file_beside_it) {
  write("parent.toml", "inherits = \"v100\"\nproduct = { value = \"P\", source = \"me\" }\n");
  const std::string child =
      write("child.toml", "inherits = \"parent\"\n[sm]\ncount = { value = 3, source = \"me\" }\n");
  EXPECT_EQ(load_device(child).device.product, "P");
  EXPECT_EQ(load_device(child).device.sm.count, 3U);
}

TEST_F(DeviceFile, an_unknown_key_has_its_place_a_caret_and_the_nearest_name) {
  const std::string text = error_of("inherits = \"h100\"\n[sm]\ncout = { value = 3, source = \"me\" }\n");
  EXPECT_THAT(text, HasSubstr("gpu.toml:3:"));
  EXPECT_THAT(text, HasSubstr("unknown key 'sm.cout' [config-unknown-key]"));
  EXPECT_THAT(text, HasSubstr("\n  cout = { value = 3, source = \"me\" }\n"));
  EXPECT_THAT(text, HasSubstr("^\n"));
  EXPECT_THAT(text, HasSubstr("did you mean 'sm.count'?"));
}

TEST_F(DeviceFile, every_value_needs_a_source_or_the_reason_of_an_estimate) {
  EXPECT_THAT(error_of("inherits = \"h100\"\nsm.count = 3\n"), HasSubstr("sm.count: a value needs a source"));
  EXPECT_THAT(error_of("inherits = \"h100\"\nsm.count = { value = 3 }\n"), HasSubstr("needs a source"));
  EXPECT_THAT(error_of("inherits = \"h100\"\nsm.count = { value = 3, source = \"\" }\n"),
              HasSubstr("needs a text"));
  EXPECT_THAT(error_of("inherits = \"h100\"\nsm.count = { value = 3, estimated = true }\n"),
              HasSubstr("needs a text"));
  EXPECT_THAT(error_of("inherits = \"h100\"\nsm.count = { value = 3, source = \"a\", estimated = \"b\" }\n"),
              HasSubstr("both a source and an estimate"));
  EXPECT_THAT(error_of("inherits = \"h100\"\nsm.count = { value = 3, sauce = \"a\" }\n"),
              HasSubstr("unknown word 'sauce'"));
}

TEST_F(DeviceFile, a_missing_value_is_named_with_what_it_means) {
  const std::string text = error_of("product = { value = \"P\", source = \"me\" }\n");
  EXPECT_THAT(text, HasSubstr("missing value 'architecture'"));
  EXPECT_THAT(text, HasSubstr("missing value 'sm.count' [device-file]"));
  EXPECT_THAT(text, HasSubstr("hint: Streaming multiprocessors"));
  EXPECT_THAT(error_of(""), HasSubstr("missing value 'product'"));
}

TEST_F(DeviceFile, wrong_values_are_refused_with_what_is_allowed) {
  const auto with = [&](const std::string& key, const std::string& value) {
    return error_of("inherits = \"h100\"\n" + key + " = { value = " + value + ", source = \"me\" }\n");
  };
  EXPECT_THAT(with("sm.count", "0"), HasSubstr("sm.count: '0' is out of range [config-value]"));
  EXPECT_THAT(with("sm.count", "0"), HasSubstr("allowed: 1 to 4096"));
  EXPECT_THAT(with("sm.count", "-3"), HasSubstr("negative"));
  EXPECT_THAT(with("sm.count", "1.5"), HasSubstr("not a whole number"));
  EXPECT_THAT(with("sm.count", "99999999999999999999"), HasSubstr("gpu.toml:2:"));
  EXPECT_THAT(with("sm.count", "[3]"), HasSubstr("an array is no value"));
  EXPECT_THAT(with("sm.count", "1979-05-27"), HasSubstr("a date or time is no value"));
  EXPECT_THAT(with("sm.count", "{ a = 3 }"), HasSubstr("a table is no value"));
  EXPECT_THAT(with("sm.count", "true"), HasSubstr("does not start with a number"));
  EXPECT_THAT(with("sm.clock", "1980"), HasSubstr("'1980' has no unit"));
  EXPECT_THAT(with("sm.clock", "nan"), HasSubstr("does not start with a number"));
  EXPECT_THAT(with("sm.clock", "inf"), HasSubstr("does not start with a number"));
  EXPECT_THAT(with("sm.clock", "\"1.98 KHz\""), HasSubstr("wrong unit"));
  EXPECT_THAT(with("sm.scheduler", "\"got\""), HasSubstr("did you mean 'gto'?"));
  EXPECT_THAT(with("sm.register_allocation_per_block", "1"), HasSubstr("'1' is not true or false"));
  EXPECT_THAT(with("compute_capability", "9"), HasSubstr("not a compute capability"));
  EXPECT_THAT(with("compute_capability", "\"9.x\""), HasSubstr("not a compute capability"));
  EXPECT_THAT(with("product", "\"a\\nb\""), HasSubstr("printable"));
}

TEST_F(DeviceFile, several_mistakes_are_reported_at_once) {
  const std::string text = error_of(
      "inherits = \"h100\"\n[sm]\ncout = { value = 3, source = \"me\" }\nmax_blocks = { value = 0, source = "
      "\"me\" }\n");
  EXPECT_THAT(text, HasSubstr("gpu.toml:3:"));
  EXPECT_THAT(text, HasSubstr("gpu.toml:4:"));
}

TEST_F(DeviceFile, values_that_contradict_each_other_are_refused_at_their_line) {
  const auto with = [&](const std::string& lines) { return error_of("inherits = \"h100\"\n" + lines); };
  EXPECT_THAT(with("l2.bytes = { value = \"50.5 MiB\", source = \"me\" }\nl2.slices = { value = 96, source = "
                   "\"me\" }\n"
                   "dram.partitions = { value = 96, source = \"me\" }\n"),
              testing::AllOf(HasSubstr("gpu.toml:2"), HasSubstr("no whole number of sets"),
                             HasSubstr("multiple of")));
  EXPECT_THAT(with("l2.latency = { value = \"20 cycles\", source = \"me\" }\n"),
              HasSubstr("not above l1.latency [device-value]"));
  EXPECT_THAT(with("dram.latency = { value = \"100 cycles\", source = \"me\" }\n"),
              HasSubstr("not above l2.latency"));
  EXPECT_THAT(with("l1.line_bytes = { value = \"32 B\", source = \"me\" }\n"
                   "l1.sector_bytes = { value = \"64 B\", source = \"me\" }\n"),
              HasSubstr("whole number of sectors"));
  EXPECT_THAT(with("sm.max_warps = { value = 63, source = \"me\" }\n"),
              HasSubstr("63 warps are not 2048 threads"));
  EXPECT_THAT(with("dram.bandwidth = { value = \"1 TB/s\", source = \"me\" }\n"),
              HasSubstr("is above the peak"));
  EXPECT_THAT(with("sm.shared_bytes = { value = \"20 KiB\", source = \"me\" }\n"),
              HasSubstr("less than one block may"));
}

TEST_F(DeviceFile, a_contradiction_points_at_the_value_of_the_most_derived_file_with_its_column) {
  const std::string text =
      error_of("inherits = \"h100\"\n[l2]\n  latency = { value = \"20 cycles\", source = \"me\" }\n");
  EXPECT_THAT(text, HasSubstr("gpu.toml:3:23: error: "));
  EXPECT_THAT(text, HasSubstr("value = \"20 cycles\""));
  EXPECT_THAT(text, HasSubstr("^\n"));
  // The first parameter of the rule is h100's own; the user's is the second one.
  EXPECT_THAT(
      error_of("inherits = \"h100\"\nl1.latency = { value = \"900 cycles\", source = \"me\" }\n"),
      testing::AllOf(HasSubstr("gpu.toml:2:"), HasSubstr("l2.latency = "), HasSubstr("above l1.latency")));
}

TEST_F(DeviceFile, a_contradiction_of_a_setting_names_the_option_or_the_line) {
  const auto with = [](Setting setting) {
    try {
      load_device("h100", {std::move(setting)});
    } catch (const Error& e) { return e.format(); }
    return std::string("accepted");
  };
  EXPECT_THAT(with({"l1.latency", "900 cycles", {"command line", "--set l1.latency=900 cycles", "", false}}),
              HasSubstr("--set l1.latency=900 cycles: error: l2.latency = "));
  EXPECT_THAT(with({"l1.latency",
                    "900 cycles",
                    {"project", "simtlab.toml:7", "", false},
                    {"simtlab.toml", 7, 3},
                    "  l1.latency = \"900 cycles\""}),
              testing::AllOf(HasSubstr("simtlab.toml:7:3: error: "), HasSubstr("\n    l1.latency")));
}

TEST_F(DeviceFile, values_that_the_models_cannot_do_are_refused_at_their_place) {
  const auto with = [&](const std::string& key, const std::string& value) {
    return error_of("inherits = \"h100\"\n" + key + " = { value = " + value + ", source = \"me\" }\n");
  };
  EXPECT_THAT(with("shared.banks", "24"), HasSubstr("gpu.toml:2:"));
  EXPECT_THAT(with("shared.banks", "24"), HasSubstr("shared.banks: '24' is not a power of two"));
  EXPECT_THAT(with("shared.banks", "128"), HasSubstr("allowed: 1 to 64, a power of two"));
  EXPECT_THAT(with("shared.bank_bytes", "\"32 B\""), HasSubstr("allowed: 1 B to 16 B, a power of two"));
  EXPECT_THAT(with("l2.mshr_entries", "65537"), HasSubstr("l2.mshr_entries: '65537' is out of range"));
  EXPECT_THAT(with("l1.line_bytes", "\"256 B\""), HasSubstr("allowed: 32 B to 128 B, a power of two"));
  EXPECT_THAT(with("constant.sector_bytes", "\"48 B\""), HasSubstr("not a power of two"));
  EXPECT_THAT(with("constant.bytes", "\"32 MiB\""), HasSubstr("out of range"));
  EXPECT_THAT(with("dram.row_bytes", "\"64 B\""), HasSubstr("out of range"));
  EXPECT_THAT(with("sm.schedulers", "0"), HasSubstr("gpu.toml:2:"));
  EXPECT_THAT(error_of("inherits = \"h100\"\nsm.max_warps = { value = 512, source = \"me\" }\n"
                       "sm.max_threads = { value = 16384, source = \"me\" }\n"),
              HasSubstr("a scheduler has more than 64 of the 512 warps"));
}

TEST_F(DeviceFile, parameters_that_together_need_too_much_memory_are_refused) {
  const auto with = [&](const std::string& lines) { return error_of("inherits = \"h100\"\n" + lines); };
  const std::string many = "sm.count = { value = 4096, source = \"me\" }\n";
  for (const std::string& text :
       {with(many + "l2.bytes = { value = \"16000 MiB\", source = \"me\" }\n"),
        with(many + "constant.bytes = { value = \"16 MiB\", source = \"me\" }\n"),
        with(many + "l1.unified_bytes = { value = \"64 MiB\", source = \"me\" }\n")}) {
    EXPECT_THAT(text, HasSubstr("gpu.toml:2:"));
    EXPECT_THAT(text, HasSubstr("at most 33554432 together: lower sm.count"));
  }
  EXPECT_THAT(with(many + "l1.mshr_entries = { value = 65536, source = \"me\" }\n"),
              HasSubstr("may be outstanding"));
}

TEST_F(DeviceFile, a_misspelt_table_without_entries_is_an_unknown_key) {
  EXPECT_THAT(error_of("inherits = \"h100\"\n[sm.cuont]\n"),
              testing::AllOf(HasSubstr("gpu.toml:2:1: error: unknown key 'sm.cuont' [config-unknown-key]"),
                             HasSubstr("did you mean 'sm.count'?")));
  EXPECT_THAT(error_of("inherits = \"h100\"\n[smm]\n"), HasSubstr("did you mean 'sm'?"));
  EXPECT_THAT(error_of("inherits = \"h100\"\n[sm.count]\n"), HasSubstr("sm.count: a table is no value"));
  EXPECT_NO_THROW(load_device(write("fine.toml", "inherits = \"h100\"\n[sm]\n[latency]\n")));
}

TEST_F(DeviceFile, cyclic_and_unknown_inheritance_is_refused) {
  EXPECT_THAT(error_of("inherits = \"gpu\"\n"), HasSubstr("'gpu' inherits from itself"));
  write("b.toml", "inherits = \"gpu\"\n");
  EXPECT_THAT(error_of("inherits = \"b\"\n"), HasSubstr("inherits from itself"));
  EXPECT_THAT(error_of("inherits = \"nosuch\"\n"), HasSubstr("gpu.toml:1:"));
  EXPECT_THAT(error_of("inherits = \"nosuch\"\n"), HasSubstr("unknown device 'nosuch'"));
  EXPECT_THAT(error_of("inherits = 3\n"), HasSubstr("needs the name of a device"));
  for (int i = 0; i < 12; ++i)
    write(fmt::format("chain{}.toml", i), fmt::format("inherits = \"chain{}\"\n", i + 1));
  EXPECT_THAT(error_of("inherits = \"chain0\"\n"), HasSubstr("levels of inheritance"));
}

TEST_F(DeviceFile, duplicates_and_syntax_errors_have_their_place) {
  EXPECT_THAT(error_of("a = 1\na = 2\n"), HasSubstr("gpu.toml:2:"));
  EXPECT_THAT(error_of("[sm]\n[l1]\n[sm]\n"), HasSubstr("gpu.toml:3:"));
  EXPECT_THAT(error_of("[sm]\ncount = { value = \n"), testing::AllOf(HasSubstr("gpu.toml:"), HasSubstr("^")));
  EXPECT_THAT(error_of("sm.count = { value = 1, value = 2, source = \"me\" }\n"), HasSubstr("gpu.toml:1:"));
}

TEST_F(DeviceFile, input_that_the_toml_library_asserts_on_is_an_error_with_its_line) {
  EXPECT_THAT(error_of("a = 1\n[= \"3 us\"\nb = 2\n"), HasSubstr("gpu.toml:2: error: this is no TOML"));
  EXPECT_THAT(error_of("[sm\x96\n"), HasSubstr("gpu.toml:1:4: error: byte 0x96 is no UTF-8"));
}

TEST_F(DeviceFile, hostile_files_are_refused_quickly) {
  EXPECT_THAT(error_of(std::string(300 * 1024, 'a')), HasSubstr("larger than 256 KiB"));
  EXPECT_THAT(error_of(std::string(200 * 1024, '[')), HasSubstr("line of more than"));
  std::string deep;
  for (int i = 0; i < 1500; ++i) deep += "a.";
  error_of(deep + "a = 1\n");
  error_of("[" + deep + "a]\n" + deep + "a = 1\n");
  error_of("x = " + std::string(2000, '[') + "\n");
  std::string nested;
  for (int i = 0; i < 4000; ++i) nested += "[\n";
  error_of("x = " + nested);
  error_of(std::string("\0\xff\xfe binary \x01", 12));
  error_of("\xef\xbb\xbf\xc0\x80");
  std::string many;
  for (int i = 0; i < 10000; ++i) many += fmt::format("k{} = 1\n", i);
  EXPECT_LT(error_of(many).size(), 20000U);
  EXPECT_THROW(load_device((folder_ / "none.toml").string()), Error);
  EXPECT_THROW(load_device(folder_.string() + "/"), Error);
  EXPECT_THROW(load_device("/dev/null"), Error);
  EXPECT_THROW(load_device(""), Error);
  EXPECT_THROW(load_device("../../etc/passwd"), Error);
}

TEST_F(DeviceFile, damaged_files_give_an_error_or_a_sound_device_never_a_crash) {
  const std::string sound = read_file(data_directory() / "devices" / "v100.toml", 1 << 20);
  Rng rng(42);
  for (int i = 0; i < 300; ++i) {
    std::string text = sound;
    for (std::uint64_t k = rng.below(4) + 1; k > 0; --k) {
      const std::size_t at = rng.below(text.size());
      switch (rng.below(4)) {
        case 0: text[at] = static_cast<char>(rng.below(256)); break;
        case 1: text.erase(at, rng.below(200)); break;
        case 2: text.insert(at, text.substr(rng.below(text.size()), rng.below(200))); break;
        default: text.resize(at + 1); break;
      }
    }
    try {
      const LoadedDevice loaded = load_device(write("damaged.toml", text));
      EXPECT_GE(loaded.entries.size(), parameters().size()) << "those of its memory come with it";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_input);
      EXPECT_FALSE(e.format().empty());
    }
  }
}

}  // namespace
}  // namespace simtlab::device
