#include "result/json.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files.h"

namespace simtlab::result {
namespace {

Result sample() {
  Result r;
  r.manifest.tool_version = "0.1.0";
  r.manifest.command_line = "simtlab run \"a b\"";
  r.manifest.working_directory = "/tmp";
  r.manifest.start_time = "2026-01-01T00:00:00Z";
  r.manifest.host = "h";
  r.manifest.device = "h100";
  r.manifest.mode = "timing";
  r.manifest.wall_seconds = 1.5;
  r.manifest.seed = ~std::uint64_t{0};
  r.manifest.configuration = {{"sm.count", "132", "device", "white paper"}};
  r.manifest.inputs = {{"a.ptx", "0123456789abcdef"}};
  r.manifest.program_exit_status = -11;
  r.manifest.interrupted = true;
  r.manifest.stopped_at = "warp 0";
  r.manifest.failure = "error: x\n";
  r.manifest.failure_id = "limit-time";
  r.manifest.failure_code = 1;
  r.total.set("gpu.time", 3.0);
  KernelResult k;
  k.name = "_Z1kv";
  k.demangled = "k()";
  k.grid[0] = 4294967295u;
  k.block[1] = 2;
  k.shared_bytes = 48;
  k.registers = 32;
  k.launches = 3;
  k.limiter = "registers";
  k.bottleneck = "It waits \xc3\xa9.";
  k.not_modelled = {"D-1", "D-2"};
  k.metrics.set("gpu.cycles", ~std::uint64_t{0});
  k.metrics.set("gpu.ipc", 0.1);
  k.metrics.set("stall.barrier", 1e-300);
  r.kernels.push_back(k);
  return r;
}

std::string error_of(const std::string& text) {
  try {
    result_from_json(text, "r.json");
  } catch (const Error& e) { return e.format(); }
  return "no error";
}

TEST(ResultJson, WritingWhatWasReadGivesTheSameBytes) {
  const std::string text = to_json(sample());
  EXPECT_EQ(to_json(result_from_json(text, "r.json")), text);
}

TEST(ResultJson, HasTheShapeThatScriptsRelyOn) {
  const std::string text = to_json(sample());
  EXPECT_TRUE(text.starts_with("{\n  \"schema\": 1,\n  \"manifest\": {")) << text;
  EXPECT_NE(text.find("\"gpu.time\": {\"value\": 3.0, \"unit\": \"ns\"}"), std::string::npos) << text;
  EXPECT_NE(text.find("\"gpu.cycles\": {\"value\": 18446744073709551615, \"unit\": \"cycles\"}"),
            std::string::npos);
  EXPECT_NE(text.find("\"launch\": {\"grid\": [4294967295, 1, 1], \"block\": [1, 2, 1]"), std::string::npos);
}

TEST(ResultJson, AnEmptyResultRoundTrips) {
  const std::string text = to_json(Result{});
  EXPECT_EQ(to_json(result_from_json(text, "r.json")), text);
}

TEST(ResultJson, BytesThatAreNotUtf8BecomeTheReplacementCharacter) {
  Result r = sample();
  r.manifest.command_line = "x\xff\xed\xa0\x80\x01";
  const Result back = result_from_json(to_json(r), "r.json");
  EXPECT_EQ(back.manifest.command_line, "x\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\x01");
}

TEST(ResultJson, ASyntaxErrorHasItsPosition) {
  EXPECT_NE(error_of("{\n  \"schema\": 1,\n  oops").find("r.json:3:"), std::string::npos)
      << error_of("{\n  \"schema\": 1,\n  oops");
}

TEST(ResultJson, EveryTruncationIsAnError) {
  const std::string text = to_json(sample());
  for (std::size_t n = 0; n + 2 < text.size(); n += 7)
    EXPECT_NE(error_of(text.substr(0, n)).find("result-json"), std::string::npos) << n;
}

TEST(ResultJson, DeepNestingIsAnErrorNotACrash) {
  EXPECT_NE(error_of(std::string(1000000, '[')).find("nested deeper"), std::string::npos);
}

TEST(ResultJson, AMemberOfTheWrongKindIsNamedByItsPath) {
  std::string text = to_json(sample());
  const std::string cycles = "{\"value\": 18446744073709551615, \"unit\": \"cycles\"}";
  const auto replaced = [&](const std::string& with) {
    std::string copy = text;
    return copy.replace(copy.find(cycles), cycles.size(), with);
  };
  EXPECT_NE(error_of(replaced("7")).find("'kernels[0].metrics.gpu.cycles' is not an object"),
            std::string::npos);
  EXPECT_NE(error_of(replaced("{\"value\": \"7\", \"unit\": \"cycles\"}")).find("is not a finite number"),
            std::string::npos);
  EXPECT_NE(
      error_of(replaced("{\"value\": 7, \"unit\": \"ns\"}")).find("has the unit 'ns', expected 'cycles'"),
      std::string::npos);
  EXPECT_NE(error_of(replaced("{\"value\": 1e999, \"unit\": \"cycles\"}")).find("out of range"),
            std::string::npos);
}

TEST(ResultJson, AnUndeclaredMetricIsAnError) {
  std::string text = to_json(sample());
  text.replace(text.find("gpu.ipc"), 7, "gpu.xyz");
  EXPECT_NE(error_of(text).find("is not a metric of this version"), std::string::npos);
}

TEST(ResultJson, ANewerSchemaIsBadInput) {
  std::string text = to_json(sample());
  text.replace(text.find("\"schema\": 1"), 11, "\"schema\": 2");
  try {
    result_from_json(text, "r.json");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    EXPECT_EQ(e.id(), "result-schema");
  }
}

TEST(ResultFile, ASecondWriterGetsANameOfItsOwn) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "simtlab-result-file";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = folder / "r.json";
  EXPECT_EQ(write_result_file(path, sample()), path);
  EXPECT_EQ(write_result_file(path, Result{}), path + ".1");
  EXPECT_EQ(read_file(path, 1 << 20), to_json(sample()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
}

}  // namespace
}  // namespace simtlab::result
