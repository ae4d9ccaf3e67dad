#include "options/configuration.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/files.h"

namespace simtlab::options {
namespace {

namespace fs = std::filesystem;
using device::Entry;
using device::load_device;
using device::LoadedDevice;
using testing::HasSubstr;

Given with(const char* key, const std::string& value) {
  Given out;
  out.add(key, value);
  return out;
}

class Settings : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "simtlab-settings-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::create_directories(root_ / "home" / ".config" / "simtlab");
    fs::create_directories(root_ / "repo" / ".git");
    fs::create_directories(root_ / "repo" / "a" / "b");
    environment_["HOME"] = (root_ / "home").string();
  }
  void TearDown() override { fs::remove_all(root_); }

  void user(std::string_view text) {
    write_file_atomically(root_ / "home/.config/simtlab/config.toml", text);
  }
  void project(std::string_view text) { write_file_atomically(root_ / "repo/simtlab.toml", text); }

  Configuration gather_all(const Given& given = {}) {
    const Surroundings surroundings{root_ / "repo" / "a" / "b",
                                    [this](const char* name) -> std::optional<std::string> {
                                      const auto found = environment_.find(name);
                                      if (found == environment_.end()) return std::nullopt;
                                      return found->second;
                                    }};
    return gather(surroundings, given);
  }

  std::string error_of(const Given& given = {}) {
    try {
      gather_all(given);
    } catch (const Error& e) {
      code_ = e.code();
      return e.format();
    }
    ADD_FAILURE() << "accepted";
    return {};
  }

  static Entry entry(const LoadedDevice& loaded, const std::string& key) {
    for (const Entry& e : loaded.entries)
      if (e.key == key) return e;
    ADD_FAILURE() << "no entry " << key;
    return {};
  }

  fs::path root_;
  std::map<std::string, std::string> environment_;
  ExitCode code_ = ExitCode::ok;
};

TEST_F(Settings, a_wrong_gpu_is_reported_where_it_was_chosen) {
  const auto error_with = [&](const Given& given) {
    try {
      load_device(gather_all(given));
    } catch (const Error& e) { return e.format(); }
    return std::string("accepted");
  };
  project("# mine\ngpu = \"nope\"\n");
  EXPECT_THAT(error_with({}), testing::AllOf(HasSubstr("simtlab.toml:2:7: error: unknown GPU 'nope'"),
                                             HasSubstr("\n  gpu = \"nope\"\n")));
  project("gpu = \"/\"\n");
  EXPECT_THAT(error_with({}), HasSubstr("simtlab.toml:1:7: error: "));
  environment_["SIMTLAB_GPU"] = "nope2";
  EXPECT_THAT(error_with({}), HasSubstr("SIMTLAB_GPU: error: unknown GPU 'nope2'"));
  EXPECT_THAT(error_with(with("gpu", "nope3")), HasSubstr("--gpu nope3: error: unknown GPU 'nope3'"));
  project("gpu = 5\n");
  EXPECT_THAT(error_of(), HasSubstr("simtlab.toml:1:7: error: gpu: 5 is no text [config-value]"));
}

TEST_F(Settings, an_empty_table_with_a_wrong_name_is_an_unknown_key) {
  project("[sm.count]\n");
  EXPECT_THAT(error_of(), HasSubstr("simtlab.toml:1:1: error: sm.count: a table is no value"));
  project("[smm]\n");
  EXPECT_THAT(error_of(), testing::AllOf(HasSubstr("simtlab.toml:1:1: error: unknown key 'smm'"),
                                         HasSubstr("did you mean 'sm'?")));
  project("[seed]\n");
  EXPECT_THAT(error_of(), HasSubstr("seed: a table is no value"));
  project("[sm]\n");
  EXPECT_NO_THROW(gather_all());
}

TEST_F(Settings, without_any_layer_the_defaults_hold) {
  const Configuration c = gather_all();
  EXPECT_EQ(c.options.gpu, "h100");
  EXPECT_EQ(c.options.mode, "timing");
  EXPECT_TRUE(c.settings.empty());
  for (const Entry& e : c.option_entries) EXPECT_EQ(e.origin.layer, "default") << e.key;
}

TEST_F(Settings, each_layer_overrides_the_one_below_and_every_value_keeps_its_origin) {
  user("gpu = \"a100\"\nseed = 1\n[sm]\ncount = 1\nschedulers = 1\nmax_blocks = 1\nissue_width = 2\n");
  project("seed = 2\nsm.count = 2\nsm.schedulers = 2\nsm.max_blocks = 2\n");
  environment_["SIMTLAB_SET"] = "sm.count=3; sm.schedulers = 4;";
  const Configuration c = gather_all(with("set", "sm.count=5"));
  EXPECT_EQ(c.options.gpu, "a100");
  EXPECT_EQ(c.options.seed, 2U);

  const LoadedDevice loaded = load_device(c.options.gpu, c.settings);
  EXPECT_EQ(loaded.device.sm.count, 5U);
  EXPECT_EQ(loaded.device.sm.schedulers, 4U);
  EXPECT_EQ(loaded.device.sm.max_blocks, 2U);
  EXPECT_EQ(loaded.device.sm.issue_width, 2U);
  EXPECT_EQ(entry(loaded, "sm.count").origin.layer, "command line");
  EXPECT_EQ(entry(loaded, "sm.count").origin.where, "--set sm.count=5");
  EXPECT_EQ(entry(loaded, "sm.schedulers").origin.layer, "environment");
  EXPECT_EQ(entry(loaded, "sm.max_blocks").origin.layer, "project");
  EXPECT_THAT(entry(loaded, "sm.max_blocks").origin.where, testing::EndsWith("repo/simtlab.toml:4"));
  EXPECT_EQ(entry(loaded, "sm.issue_width").origin.layer, "user");
  EXPECT_EQ(entry(loaded, "sm.registers").origin.layer, "device");
}

TEST_F(Settings, a_file_of_the_command_line_lies_between_the_environment_and_the_options) {
  environment_["SIMTLAB_GPU"] = "v100";
  write_file_atomically(root_ / "more.toml", "gpu = \"gtx480\"\nseed = 8\n");
  EXPECT_EQ(gather_all().options.gpu, "v100");
  EXPECT_EQ(gather_all(with("config", (root_ / "more.toml").string())).options.gpu, "gtx480");
  Given given = with("config", (root_ / "more.toml").string());
  given.add("gpu", "k40");
  const Configuration c = gather_all(given);
  EXPECT_EQ(c.options.gpu, "k40");
  EXPECT_EQ(c.options.seed, 8U);
}

TEST_F(Settings, XDG_CONFIG_HOME_replaces_the_folder_in_HOME) {
  user("seed = 1\n");
  environment_["XDG_CONFIG_HOME"] = (root_ / "xdg").string();
  EXPECT_EQ(gather_all().options.seed, 0U);
  fs::create_directories(root_ / "xdg/simtlab");
  write_file_atomically(root_ / "xdg/simtlab/config.toml", "seed = 2\n");
  EXPECT_EQ(gather_all().options.seed, 2U);
}

TEST_F(Settings, the_search_for_a_project_file_ends_at_the_repository_root) {
  write_file_atomically(root_ / "simtlab.toml", "seed = 9\n");
  EXPECT_EQ(gather_all().options.seed, 0U);
  fs::remove_all(root_ / "repo" / ".git");
  EXPECT_EQ(gather_all().options.seed, 9U);
}

TEST_F(Settings, a_device_file_in_a_configuration_file_is_relative_to_that_file) {
  project("gpu = \"gpus/mine.toml\"\n");
  EXPECT_EQ(gather_all().options.gpu, (root_ / "repo/gpus/mine.toml").string());
}

TEST_F(Settings, an_unknown_key_is_an_error_with_place_caret_and_nearest_name) {
  project("seed = 1\n[sm]\n  cout = 4\n");
  const std::string text = error_of();
  EXPECT_EQ(code_, ExitCode::bad_input);
  EXPECT_THAT(text, HasSubstr("simtlab.toml:3:"));
  EXPECT_THAT(text, HasSubstr("unknown key 'sm.cout' [config-unknown-key]"));
  EXPECT_THAT(text, HasSubstr("    cout = 4\n"));
  EXPECT_THAT(text, HasSubstr("^"));
  EXPECT_THAT(text, HasSubstr("did you mean 'sm.count'?"));
}

TEST_F(Settings, wrong_values_are_found_in_every_layer_at_their_place) {
  project("max-cycles = -1\nsm.clock = 1410\nmode = \"fast\"\n[l1]\nlatency = \"3 ns\"\n");
  const std::string text = error_of();
  EXPECT_THAT(text, HasSubstr("simtlab.toml:1:"));
  EXPECT_THAT(text, HasSubstr("sm.clock: '1410' has no unit"));
  EXPECT_THAT(text, HasSubstr("mode: unknown value 'fast'"));
  EXPECT_THAT(text, HasSubstr("l1.latency: '3 ns' has the wrong unit"));
  project("");
  environment_["SIMTLAB_SET"] = "sm.count=many";
  EXPECT_THAT(error_of(), HasSubstr("SIMTLAB_SET: sm.count: 'many'"));
  environment_.clear();
  EXPECT_THAT(error_of(with("set", "sm.cout=3")), HasSubstr("--set sm.cout=3: unknown key"));
}

TEST_F(Settings, a_setting_without_an_equals_sign_is_a_usage_error) {
  EXPECT_THROW(command_line_setting("sm.count"), Error);
  EXPECT_THROW(command_line_setting("=3"), Error);
  environment_["SIMTLAB_SET"] = "sm.count";
  error_of();
  EXPECT_EQ(code_, ExitCode::usage);
}

TEST_F(Settings, a_file_that_was_asked_for_must_exist) {
  EXPECT_THAT(error_of(with("config", (root_ / "none.toml").string())),
              HasSubstr("no such configuration file"));
}

TEST_F(Settings, a_contradiction_is_reported_at_the_setting_that_makes_it) {
  const Configuration c = gather_all(with("set", "l2.ways=7"));
  try {
    load_device("h100", c.settings);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_THAT(e.format(), HasSubstr("--set l2.ways=7: error: l2.bytes = 50 MiB: "));
    EXPECT_THAT(e.format(), HasSubstr("no whole number of sets"));
  }
}

TEST_F(Settings, changing_the_peak_bandwidth_changes_the_measured_one_in_proportion) {
  const double before = load_device("h100").device.dram.bandwidth_measured;
  const double peak = load_device("h100").device.dram.bandwidth;
  const LoadedDevice half =
      load_device("h100", {command_line_setting(fmt::format("dram.bandwidth={} B/s", peak / 2))});
  // Of the whole GPU the memory's technology says the peak, a little more than the file rounds it to.
  EXPECT_NEAR(half.device.dram.bandwidth_measured, before / 2, 1e-3 * before);
  EXPECT_EQ(entry(half, "dram.bandwidth_measured").origin.source, "in proportion to dram.bandwidth");
  const LoadedDevice both = load_device("h100", {command_line_setting("dram.bandwidth=5 TB/s"),
                                                 command_line_setting("dram.bandwidth_measured=4 TB/s")});
  EXPECT_EQ(both.device.dram.bandwidth_measured, 4e12);
}

TEST_F(Settings, the_documentation_lists_every_option) {
  const std::string page =
      read_file(std::string(SIMTLAB_SOURCE_DIR) + "/docs/reference/configuration.md", 1 << 20);
  EXPECT_THAT(page, HasSubstr(option_reference()))
      << "docs/reference/configuration.md is stale: replace its table by\n"
      << option_reference();
}

}  // namespace
}  // namespace simtlab::options
