// Studies through the public header.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "simtlab/simtlab.h"

namespace simtlab::api {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* endless = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 flag)
{
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r2, 0;
AGAIN:
  ld.volatile.global.u32 %r1, [%rd1];
  add.u32 %r2, %r2, 1; shr.u32 %r3, %r2, 31; or.b32 %r1, %r1, %r3;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  ret;
}
)";

struct Wish {
  std::string name;
  Request request;
};

Execution execute(const Wish& wish, const StudyOptions& options = {}) {
  return study(wish.name, wish.request, options);
}

class Studies : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  static std::string example(const std::string& name) { return SIMTLAB_SOURCE_DIR "/examples/" + name; }
  static Wish saxpy(const std::string& gpu) {
    return {"run", {{example("saxpy.ptx")}, {{"launch", example("saxpy.toml")}, {"gpu", gpu}}}};
  }
  Wish spin() const {
    return {"run",
            {{folder_ / "spin.ptx"},
             {{"grid", "1"}, {"block", "32"}, {"arg", "buffer:1:u32:zero"}, {"gpu", "v100"}}}};
  }
  template <typename Work>
  static Failure failure_of(Work&& work) {
    try {
      work();
    } catch (const Failure& e) { return e; }
    return {0, "none", "nothing failed", "nothing failed"};
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("simtlab-execute-" + std::to_string(getpid()));
};

// All but what differs from run to run.
std::string lasting(const std::string& json) {
  static const std::regex varying(
      R"re("(start_time|wall_time_s|host|host\.[a-z_.]+)": *(\{[^}]*\}|"[^"]*"|[0-9.e+-]+))re");
  return std::regex_replace(json, varying, "");
}

TEST_F(Studies, a_command_returns_its_result_and_prints_nothing) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Execution done = execute(saxpy("a100"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(done.json, HasSubstr("\"schema\": 1"));
  EXPECT_THAT(done.json, HasSubstr("gpu.time"));
  EXPECT_THAT(done.json, HasSubstr("simtlab run "));  // the command of the manifest
}

TEST_F(Studies, two_simulations_in_two_threads_of_a_process_are_what_each_is_alone) {
  const std::vector<Wish> commands = {
      saxpy("a100"),
      saxpy("k40"),
      {"dram", {{}, {{"dram", "ddr4-3200"}, {"generate", "random"}, {"requests", "20000"}}}}};
  std::vector<std::string> alone, together(commands.size());
  for (const auto& command : commands) alone.push_back(execute(command).json);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < commands.size(); ++i)
    threads.emplace_back([&, i] { together[i] = execute(commands[i]).json; });
  for (std::thread& t : threads) t.join();
  for (std::size_t i = 0; i < commands.size(); ++i) EXPECT_EQ(lasting(together[i]), lasting(alone[i])) << i;
  EXPECT_NE(lasting(alone[0]), lasting(alone[1]));
}

TEST_F(Studies, an_error_has_its_places) {
  std::string broken = endless;
  broken.replace(broken.find("setp.eq.u32"), 11, "setp.eqq.u32");
  const std::string path = file("broken.ptx", broken);
  const Failure e = failure_of([&] { study("run", {{path}, {{"grid", "1"}, {"block", "1"}}}); });
  EXPECT_GT(e.exit_code(), 2);
  ASSERT_THAT(e.places(), Not(IsEmpty()));
  EXPECT_EQ(e.places().front().file, path);
  EXPECT_EQ(e.places().front().line, 12u);
  EXPECT_GT(e.places().front().column, 0u);
  EXPECT_THAT(e.places().front().text, HasSubstr("setp.eqq.u32"));
  EXPECT_THAT(e.text(), HasSubstr("broken.ptx:12:"));
  EXPECT_THAT(e.partial_json(), IsEmpty());
}

TEST_F(Studies, what_the_caller_is_told_and_may_stop) {
  file("spin.ptx", endless);
  StudyOptions options;
  options.interval_seconds = 0.02;
  std::vector<std::string> activities;
  std::string details;
  const std::thread::id here = std::this_thread::get_id();
  options.progress = [&](const Progress& now) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    activities.emplace_back(now.activity);
    details += now.detail;
    return now.activity != "simulating" || now.detail.find("warp instructions") == std::string_view::npos;
  };
  const Failure e = failure_of([&] { execute(spin(), options); });
  EXPECT_EQ(e.exit_code(), 130);
  EXPECT_EQ(e.id(), "interrupted");
  EXPECT_THAT(activities, testing::Contains("simulating"));
  EXPECT_THAT(details, HasSubstr("kernel spin: 0 of "));
  EXPECT_THAT(e.partial_json(), HasSubstr("\"spin\""));
}

TEST_F(Studies, what_the_caller_throws_stops_the_command_and_comes_back) {
  file("spin.ptx", endless);
  StudyOptions options;
  options.interval_seconds = 0.02;
  options.progress = [](const Progress& now) -> bool {
    if (now.activity.empty()) return true;
    throw std::domain_error("mine");
  };
  EXPECT_THROW(execute(spin(), options), std::domain_error);
}

TEST_F(Studies, the_time_limit_holds_without_an_alarm) {
  file("spin.ptx", endless);
  Wish command = spin();
  command.request.options.emplace_back("max-time", "0.05 s");
  const auto begin = std::chrono::steady_clock::now();
  const Failure e = failure_of([&] { execute(command); });
  EXPECT_EQ(e.id(), "limit-time");
  EXPECT_EQ(e.exit_code(), 1);
  EXPECT_THAT(e.partial_json(), HasSubstr("limit-time"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(Studies, what_serves_a_terminal_is_refused) {
  for (const char* name : {"corun exec", "rerun", "doctor", "rum", ""}) {
    const Failure e = failure_of([&] { study(name, {}); });
    EXPECT_EQ(e.exit_code(), 2) << name;
    EXPECT_EQ(e.id(), "command-embedded") << name;
  }
}

TEST_F(Studies, options_are_checked_as_on_the_command_line) {
  const auto id_of = [&](const std::vector<std::pair<std::string, std::string>>& options) {
    return failure_of([&] { study("dram", {{}, options}); }).id();
  };
  EXPECT_EQ(id_of({{"drum", "ddr4-3200"}}), "option-unknown");
  EXPECT_EQ(id_of({{"requests", "-1"}}), "option-value");
  EXPECT_EQ(id_of({{"requests", "12x"}}), "option-value");
  EXPECT_EQ(id_of({{"wrap", "perhaps"}}), "option-value");
  EXPECT_EQ(id_of({{"json", ""}}), "option-value");
  EXPECT_EQ(failure_of([] { study("dram", {{"a.cu"}, {}}); }).id(), "argument-unexpected");
  EXPECT_EQ(failure_of([] { study("probe", {{}, {}, {"./app"}}); }).id(), "argument-unexpected");
  EXPECT_EQ(failure_of([] { study("run", {{"x.ptx"}, {{"lanch", "x"}}}); }).id(), "option-unknown");
}

TEST_F(Studies, files_that_are_asked_for_are_written) {
  const std::string json = folder_ / "d.json", text = folder_ / "d.txt";
  const Execution done = study("dram", {{},
                                        {{"dram", "ddr4-3200"},
                                         {"generate", "stream"},
                                         {"requests", "2000"},
                                         {"json", json},
                                         {"output", text}}});
  EXPECT_GT(std::filesystem::file_size(json), 100u);
  EXPECT_GT(std::filesystem::file_size(text), 100u);
  EXPECT_THAT(done.report, HasSubstr("ddr4-3200"));
}

TEST_F(Studies, a_program_s_words_come_back_with_the_error) {
  const Failure e = failure_of([] {
    study("run", {{}, {}, {"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}});
  });
  EXPECT_EQ(e.exit_code(), 5);
  EXPECT_EQ(e.id(), "program-exit");
  EXPECT_THAT(e.messages(), HasSubstr("out\nerr\n"));
}

TEST_F(Studies, a_program_is_stopped_with_the_command) {
  StudyOptions options;
  options.interval_seconds = 0.02;
  options.progress = [](const Progress& now) { return now.seconds < 0.2; };
  const auto begin = std::chrono::steady_clock::now();
  const Failure e = failure_of([&] { study("run", {{}, {}, {"/bin/sleep", "60"}}, options); });
  EXPECT_EQ(e.exit_code(), 130);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(Explain, WordsHaveTextsAndOthersAreErrors) {
  EXPECT_NE(explain("lrr").find("round"), std::string::npos);
  EXPECT_NE(explain("--lines").find("--lines"), std::string::npos);
  EXPECT_THROW(explain("no such word at all"), Failure);
}

TEST(Commands, are_described_with_all_their_options) {
  const std::string json = commands_json();
  EXPECT_THAT(json, HasSubstr("\"--max-cycles\""));
  EXPECT_THAT(json, HasSubstr("\"corun\""));
  EXPECT_THAT(json, HasSubstr(R"("choices":["rank","ks"])"));
}

}  // namespace
}  // namespace simtlab::api
