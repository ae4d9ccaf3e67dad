// Memory technologies: what is shipped is sound, and what a file may not say is refused at its place.
#include "device/technology.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <variant>

#include "base/error.h"
#include "base/files.h"
#include "base/rng.h"
#include "device/technology_keys.h"

namespace simtlab::device {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class ShippedTechnology : public testing::TestWithParam<std::string> {};

TEST_P(ShippedTechnology, loads_with_a_source_or_the_reason_of_an_estimate_for_every_value) {
  try {
    const LoadedTechnology loaded = load_technology(GetParam());
    EXPECT_EQ(loaded.technology.name, GetParam());
    for (const Entry& entry : loaded.entries) {
      if (entry.origin.layer == "default") continue;  // rules that most memories do not have
      EXPECT_EQ(entry.origin.layer, "technology") << entry.key;
      EXPECT_GT(entry.origin.source.size(), 3U) << entry.key;
      EXPECT_THAT(entry.origin.where, testing::MatchesRegex(".*\\.toml:[0-9]+")) << entry.key;
      // A source that is not in [sources] would be shown as its bare abbreviation.
      if (!entry.origin.estimated) {
        EXPECT_THAT(entry.origin.source,
                    testing::AnyOf(HasSubstr("DRAM"), HasSubstr("Ramulator"), HasSubstr("GPGPU"),
                                   HasSubstr("registers of a board"), HasSubstr("nvidia-smi")))
            << entry.key;
      }
    }
  } catch (const Error& e) { FAIL() << e.format(); }
}

TEST_P(ShippedTechnology, obeys_the_order_of_commands) {
  const Technology t = load_technology(GetParam()).technology;
  const Technology::Timing& c = t.timing;
  EXPECT_GE(c.trc, c.tras);
  EXPECT_GE(c.trc, c.trp);
  EXPECT_GE(c.tras, c.trcd_read);
  EXPECT_GE(c.tccd_l, c.tccd_s);
  EXPECT_GE(c.trrd_l, c.trrd_s);
  EXPECT_LE(c.cwl, c.cl);
  EXPECT_LT(c.trfc_pb, std::max(c.trfc, 1U));
  EXPECT_EQ(t.refresh == Refresh::none, t.standard == "PCM" || t.standard == "STT-MRAM");
}

TEST_P(ShippedTechnology, has_plausible_times_and_sizes) {
  const Technology t = load_technology(GetParam()).technology;
  const auto ns = [&](std::uint32_t clocks) { return clocks * t.tck.count / 1e3; };
  EXPECT_GE(ns(t.timing.cl), 6) << "no array is read faster";
  EXPECT_LE(ns(t.timing.cl), 30);
  EXPECT_GE(ns(t.timing.trc), 30);
  EXPECT_LE(ns(t.timing.trc), 160);
  if (t.refresh != Refresh::none) {
    EXPECT_GE(ns(t.timing.trefi), 1800);
    EXPECT_LE(ns(t.timing.trefi), 7900);
    EXPECT_LT(t.timing.trfc, t.timing.trefi / 4) << "most of the time is left for accesses";
    EXPECT_GT(t.timing.txs, t.timing.trfc);
  }
  EXPECT_THAT(t.burst_bytes(), testing::AnyOf(32U, 64U));
  // Data of bursts back to back fill the bus: what the pins move in the clocks of a burst.
  const double burst_seconds = t.timing.burst * t.tck.count * 1e-12;
  EXPECT_NEAR(t.burst_bytes() / burst_seconds / t.bytes_per_second(), 1, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, ShippedTechnology, testing::ValuesIn(list_technologies()), test_name);

class MemoryOf : public testing::TestWithParam<std::string> {};

TEST_P(MemoryOf, is_a_technology_whose_channels_add_up_to_the_bandwidth_and_the_size_of_the_board) {
  const Device d = load_device(GetParam()).device;
  const Technology t = load_technology(d.dram.technology).technology;
  EXPECT_EQ(t.name, d.dram.technology) << "an alias: name the file";
  const double channels = d.dram.bandwidth / t.bytes_per_second();
  EXPECT_NEAR(channels, std::round(channels), channels * 0.002);
  const double bytes = std::round(channels) * t.organisation.ranks * t.banks() * t.organisation.rows *
                       t.organisation.row_bytes;
  EXPECT_GE(bytes, static_cast<double>(d.dram.bytes));
  EXPECT_LE(bytes, static_cast<double>(d.dram.bytes) * 1.1);
}

INSTANTIATE_TEST_SUITE_P(Devices, MemoryOf, testing::ValuesIn(list_devices()), test_name);

TEST(Technologies, cover_every_family) {
  std::set<std::string> standards;
  for (const std::string& name : list_technologies())
    standards.insert(load_technology(name).technology.standard);
  EXPECT_THAT(standards, testing::IsSupersetOf({"DDR2", "DDR3", "DDR4", "DDR5", "GDDR5", "GDDR5X", "GDDR6",
                                                "HBM", "HBM2", "HBM2E", "HBM3", "HBM3E", "LPDDR4", "LPDDR5",
                                                "WideIO2", "PCM", "STT-MRAM"}));
}

// What standards and generations order, whatever a file's source says: each pair is (at most, at least).
TEST(Technologies, keep_the_order_of_their_standards) {
  const auto of = [](const char* name) { return load_technology(name).technology; };
  const auto share = [&](const char* name) {
    const Technology t = of(name);
    return t.refresh == Refresh::none ? 0.0 : static_cast<double>(t.timing.trfc) / t.timing.trefi;
  };
  const auto peak = [&](const char* name) { return of(name).bytes_per_second(); };
  const auto rate = [&](const char* name) {
    const Technology t = of(name);
    return t.bytes_per_second() / t.organisation.channel_width;
  };
  const auto ordered = [](const std::vector<std::vector<const char*>>& chains, const auto& value,
                          const char* what) {
    for (const auto& chain : chains)
      for (std::size_t a = 0; a < chain.size(); ++a)
        for (std::size_t b = a + 1; b < chain.size(); ++b)
          EXPECT_LE(value(chain[a]), value(chain[b]) * 1.01)  // whole clocks
              << what << ": " << chain[a] << " before " << chain[b];
  };
  // Denser devices and stacks refresh more; graphics memories of 8 Gb less than GDDR6.
  ordered({{"pcm-800", "ddr2-800", "ddr3-1600", "ddr4-2400", "ddr5-4800"},
           {"stt-mram-1600", "ddr2-800", "ddr3-1600", "ddr4-3200", "ddr5-4800"},
           {"gddr5-gtx480", "gddr5-7000", "gddr6-14000"},
           {"gddr5-gtx480", "gddr5-gtx580", "gddr5-k40", "gddr5x-titanxp", "gddr6-14000"},
           {"gddr5x-12000", "gddr6-14000"},
           {"gddr5-titanx", "gddr6-14000"},
           {"hbm-1000", "hbm2-2000", "hbm3-6400"}},
          share, "share of refreshes");
  ordered({{"ddr2-800", "ddr3-1600", "ddr4-2400", "ddr4-3200", "gddr5-7000", "gddr5x-12000"},
           {"pcm-800", "ddr3-1600"},
           {"ddr3-1600", "hbm-1000", "hbm2-2000", "hbm2-2400", "hbm3-6400"},
           {"gddr5-k40", "gddr5-titanx", "gddr5-7000"},
           {"gddr5-gtx460", "gddr5-gtx480", "gddr5-gtx580"},
           {"gddr5-titanx", "gddr5x-titanxp", "gddr5x-12000"},
           {"lpddr4-3200", "lpddr5-6400"}},
          peak, "bandwidth of a channel");
  ordered({{"hbm-1000", "hbm2-2000", "hbm2-2400", "hbm3-6400"},
           {"ddr2-800", "ddr3-1600", "ddr4-2400", "ddr4-3200", "gddr5-gtx460", "gddr5-gtx480", "gddr5-gtx580",
            "gddr5-k40", "gddr5-titanx", "gddr5-7000", "gddr5x-titanxp", "gddr5x-12000", "gddr6-14000"},
           {"ddr4-3200", "ddr5-4800", "lpddr5-6400"}},
          rate, "bandwidth of a pin");
}

TEST(Technologies, hold_the_numbers_of_their_sources) {
  const Technology t = load_technology("ddr4-3200").technology;
  EXPECT_EQ(t.tck.count, 625U);
  EXPECT_EQ(t.timing.cl, 22U);
  EXPECT_EQ(t.timing.tccd_l, 8U);
  EXPECT_EQ(t.timing.tccd_s, 4U) << "inherited from ddr4-2400";
  EXPECT_EQ(t.organisation.row_bytes, 8192U);
  EXPECT_DOUBLE_EQ(t.bytes_per_second(), 25.6e9);
  EXPECT_EQ(t.current.idd4r, 168.0);
  const Technology hbm = load_technology("hbm3").technology;
  EXPECT_EQ(hbm.name, "hbm3-6400");
  EXPECT_TRUE(hbm.dual_issue);
  EXPECT_EQ(hbm.organisation.pseudo_channels, 2U);
  EXPECT_FALSE(hbm.current.idd0) << "unknown, not zero";
  const Technology pcm = load_technology("PCM").technology;
  EXPECT_LT(pcm.timing.trc, pcm.timing.tras + pcm.timing.trp) << "as its source says";
}

TEST(Technologies, suggest_the_nearest_name) {
  try {
    load_technology("hbm3-h10");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "dram-unknown");
    EXPECT_THAT(e.format(), HasSubstr("did you mean 'hbm3-h100'?"));
  }
  EXPECT_THROW(load_technology(""), Error);
  EXPECT_THROW(load_technology("h100"), Error) << "a device is no technology";
}

TEST(TechnologyKeys, are_documented_and_fill_different_members) {
  struct Address {
    const void* operator()(Capability) const { return nullptr; }
    const void* operator()(PolicyChoice c) const { return c.name; }
    const void* operator()(const void* member) const { return member; }
  };
  Technology t;
  std::set<const void*> members;
  std::set<std::string> names;
  for (const KeyOf<Technology>& key : technology_keys()) {
    EXPECT_TRUE(names.insert(key.key).second) << key.key;
    EXPECT_TRUE(members.insert(std::visit(Address{}, key.field(t))).second)
        << key.key << " hides another key";
    EXPECT_NE(key.doc.back(), '.') << key.key;
  }
  const std::string reference = technology_reference();
  const std::string page =
      read_file(std::string(SIMTLAB_SOURCE_DIR) + "/docs/reference/memory-files.md", 1 << 20);
  EXPECT_THAT(page, HasSubstr(reference)) << "docs/reference/memory-files.md is stale: replace its table by\n"
                                          << reference;
}

TEST(TechnologyKeys, what_show_prints_store_reads_back) {
  for (const std::string& name : list_technologies()) {
    const Technology t = load_technology(name).technology;
    Technology copy;
    for (const auto& key : technology_keys())
      if (show(key, t) != "unknown") store(key, show(key, t), copy);
    for (const auto& key : technology_keys())
      EXPECT_EQ(show(key, copy), show(key, t)) << name << " " << key.key;
  }
}

class TechnologyFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "simtlab-dram-XXXXXX").string();
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
    try {
      load_technology(write("part.toml", text));
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_input);
      return e.format();
    }
    ADD_FAILURE() << "accepted: " << text.substr(0, 200);
    return {};
  }
  // ddr4-2400 with one value of `table` changed.
  std::string error_with(const std::string& table, const std::string& key, const std::string& value) {
    return error_of(fmt::format(
        "inherits = \"ddr4-2400\"\n[{}]\n{} = {{ value = {}, estimated = \"test\" }}\n", table, key, value));
  }

  fs::path folder_;
};

TEST_F(TechnologyFile, states_only_what_differs_and_may_inherit_from_a_file_beside_it) {
  write("parent.toml",
        "inherits = \"ddr4-2400\"\n[timing]\ntRP = { value = \"20 cycles\", source = \"me\" }\n"
        "tRC = { value = \"59 cycles\", source = \"me\" }\n");
  const std::string child = write(
      "child.toml", "inherits = \"parent\"\n[organisation]\nranks = { value = 2, source = \"my board\" }\n");
  const LoadedTechnology loaded = load_technology(child);
  EXPECT_EQ(loaded.technology.name, "child");
  EXPECT_EQ(loaded.technology.organisation.ranks, 2U);
  EXPECT_EQ(loaded.technology.timing.trp, 20U);
  EXPECT_EQ(loaded.technology.timing.cl, 17U);
  EXPECT_EQ(loaded.files.size(), 3U);
  for (const Entry& e : loaded.entries) {
    if (e.key == "organisation.ranks") { EXPECT_EQ(e.origin.where, child + ":3"); }
  }
}

TEST_F(TechnologyFile, settings_change_values_and_are_blamed_for_contradictions) {
  const Setting slow{"timing.tRP", "30 cycles", {"command line", "--set timing.tRP=30 cycles", "", false}};
  const Setting cycle{"timing.tRC", "80 cycles", {"command line", "--set timing.tRC=80 cycles", "", false}};
  EXPECT_EQ(load_technology("ddr4-2400", {slow, cycle}).technology.timing.trp, 30U);
  Setting wrong = cycle;
  wrong.value = "30 cycles";
  wrong.origin.where = "--set timing.tRC=30 cycles";
  try {
    load_technology("ddr4-2400", {wrong});
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.format(), HasSubstr("--set timing.tRC=30 cycles"));
    EXPECT_THAT(e.format(), HasSubstr("timing.tRAS = 39 cycles: is above tRC"));
  }
}

TEST_F(TechnologyFile, an_unknown_key_has_its_place_and_the_nearest_name) {
  const std::string text = error_with("timing", "tRCD_Q", "\"17 cycles\"");
  EXPECT_THAT(text, HasSubstr("part.toml:3:"));
  EXPECT_THAT(text, HasSubstr("unknown key 'timing.tRCD_Q'"));
  EXPECT_THAT(text, HasSubstr("did you mean 'timing.tRCD_R'?"));
  EXPECT_THAT(error_of("inherits = \"ddr4-2400\"\n[timings]\n"), HasSubstr("did you mean 'timing'?"));
  EXPECT_THAT(error_with("zzz", "qqqqqqqqqqqq", "1"),
              HasSubstr("'simtlab config show --dram NAME' lists the keys"));
}

TEST_F(TechnologyFile, a_missing_value_is_named_with_what_it_means_and_currents_may_be_missing) {
  const std::string text = error_of("standard = { value = \"X\", source = \"me\" }\n");
  EXPECT_THAT(text, HasSubstr("missing value 'description'"));
  EXPECT_THAT(text, HasSubstr("missing value 'timing.CL'"));
  EXPECT_THAT(text, HasSubstr("From a read to its first data"));
  EXPECT_THAT(text, testing::Not(HasSubstr("current.")));
}

TEST_F(TechnologyFile, wrong_values_are_refused_with_what_is_allowed) {
  EXPECT_THAT(error_with("organisation", "channel_width", "\"0 bits\""),
              HasSubstr("allowed: 1 bits to 4096 bits"));
  EXPECT_THAT(error_with("organisation", "row_bytes", "\"3000 B\""), HasSubstr("is not a power of two"));
  EXPECT_THAT(error_with("organisation", "ranks", "1.5"), HasSubstr("not a whole number"));
  EXPECT_THAT(error_with("timing", "CL", "\"17 ns\""), HasSubstr("wrong unit 'ns'"));
  EXPECT_THAT(error_with("timing", "CL", "17"), HasSubstr("has no unit"));
  EXPECT_THAT(error_with("clock", "tCK", "\"0.8333 ns\""), HasSubstr("no whole number of picoseconds"));
  EXPECT_THAT(error_with("clock", "tCK", "\"0 ns\""), HasSubstr("out of range"));
  EXPECT_THAT(error_with("commands", "refresh", "\"per_bnk\""), HasSubstr("did you mean 'per_bank'?"));
  EXPECT_THAT(error_with("commands", "dual_issue", "\"maybe\""), HasSubstr("true or false"));
  EXPECT_THAT(error_with("current", "IDD0", "\"48 V\""), HasSubstr("wrong unit 'V'"));
  EXPECT_THAT(error_of("inherits = \"ddr4-2400\"\ntiming.CL = \"3 cycles\"\n"),
              HasSubstr("a value needs a source"));
}

TEST_F(TechnologyFile, values_that_contradict_each_other_are_refused_at_their_line) {
  const auto expect = [&](const char* table, const char* key, const char* value, const char* says) {
    const std::string text = error_with(table, key, value);
    EXPECT_THAT(text, HasSubstr(says)) << key;
    EXPECT_THAT(text, HasSubstr("part.toml:3:")) << key;
  };
  expect("timing", "tRAS", "\"57 cycles\"", "timing.tRAS = 57 cycles: is above tRC");
  expect("timing", "tRC", "\"55 cycles\"", "is below tRAS + tRP, 56 cycles, and only estimated");
  expect("timing", "tFAW", "\"3 cycles\"", "is below tRRD_S");
  expect("timing", "tRRD_L", "\"3 cycles\"", "timing.tRRD_L = 3 cycles: is below tRRD_S");
  expect("timing", "tCCD_S", "\"7 cycles\"", "is below tCCD_S");
  expect("timing", "tWTR_S", "\"12 cycles\"", "is below tWTR_S");
  expect("timing", "tRCD_R", "\"40 cycles\"", "is above tRAS");
  expect("timing", "tRCD_W", "\"40 cycles\"", "is above tRAS");
  expect("timing", "tRFC", "\"0 cycles\"", "but commands.refresh asks for it");
  expect("timing", "tREFI", "\"420 cycles\"", "refreshing takes 420 of these cycles");
  expect("timing", "burst", "\"8 cycles\"", "8 transfers in 8 clocks of 833 ps are 1200 MT/s");
  expect("clock", "data_rate", "\"2500 MT/s\"", "are 2401 MT/s");
  expect("organisation", "device_width", "\"24 bits\"", "does not divide the channel of 64 bits");
  expect("organisation", "row_bytes", "\"32 B\"", "is no whole number of accesses of 64 bytes");
  expect("commands", "refresh", "\"per_bank\"",
         "timing.tRFC_pb = 0 cycles: but commands.refresh asks for it");
  const std::string odd = error_of(
      "inherits = \"ddr4-2400\"\n[organisation]\nchannel_width = { value = \"3 bits\", source = \"t\" }\n"
      "device_width = { value = \"3 bits\", source = \"t\" }\nburst_length = { value = 2, source = \"t\" }\n"
      "[timing]\nburst = { value = \"1 cycles\", source = \"t\" }\n");
  EXPECT_THAT(odd, HasSubstr("2 transfers of 3 bits are no whole number of bytes"));
}

TEST_F(TechnologyFile, a_cycle_shorter_than_its_parts_needs_a_source) {
  const std::string path = write("short.toml",
                                 "inherits = \"ddr4-2400\"\n[timing]\n"
                                 "tRC = { value = \"50 cycles\", source = \"a data sheet, table 3\" }\n");
  EXPECT_EQ(load_technology(path).technology.timing.trc, 50U);
}

TEST_F(TechnologyFile, broken_inheritance_speaks_of_technologies) {
  EXPECT_THAT(error_of("inherits = \"part\"\n"), HasSubstr("'part' inherits from itself"));
  const std::string unknown = error_of("inherits = \"h100\"\n");
  EXPECT_THAT(unknown, HasSubstr("unknown memory technology 'h100'"));
  EXPECT_THAT(unknown, HasSubstr("'simtlab list drams'"));
  EXPECT_THAT(error_of("inherits = 3\n"), HasSubstr("write for example: inherits = \"ddr4-3200\""));
}

TEST_F(TechnologyFile, damaged_files_give_an_error_or_a_sound_technology_never_a_crash) {
  const std::string sound = read_file(data_directory() / "dram" / "hbm2-2000.toml", 1 << 20);
  Rng rng(7);
  for (int i = 0; i < 300; ++i) {
    std::string text = sound;
    for (int k = 0; k < 3; ++k) text[rng.below(text.size())] = static_cast<char>(rng.below(128));
    try {
      const Technology t = load_technology(write("damaged.toml", text)).technology;
      EXPECT_GE(t.timing.trc, t.timing.tras);
      EXPECT_EQ(t.organisation.row_bytes % t.burst_bytes(), 0U);
    } catch (const Error& e) { EXPECT_EQ(e.code(), ExitCode::bad_input) << e.format(); }
  }
}

}  // namespace
}  // namespace simtlab::device
