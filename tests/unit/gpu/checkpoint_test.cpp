// A run that goes on from a checkpoint is the run that was never interrupted; a file that is not of this run
// is refused.
#include "gpu/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/error.h"
#include "device/catalogue.h"
#include "gpu/gpu.h"
#include "result/json.h"

namespace simtlab::gpu {
namespace {

using testing::HasSubstr;

// add(x, n): x[i] += n; what one launch leaves in L2 the next one finds there.
constexpr const char* adder = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 x, .param .u32 n)
{
  .reg .b32 %r<8>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [x]; ld.param.u32 %r7, [n];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %d2, %r4, 4; add.s64 %d3, %d1, %d2;
  ld.global.u32 %r5, [%d3]; add.u32 %r6, %r5, %r7; st.global.u32 [%d3], %r6;
  ret;
}
)";

constexpr std::uint32_t words = 40000;

struct Outcome {
  std::string result;  // all of it but host.*
  std::vector<std::uint32_t> data;
  double last_cycles = 0;
};

class CheckpointTest : public testing::TestWithParam<Mode> {
 protected:
  // Not the whole of both in the message.
  static std::string difference(const std::string& got, const std::string& wanted) {
    std::istringstream a(got), b(wanted);
    for (std::string x, y; std::getline(b, y);)
      if (!std::getline(a, x) || x != y) return "got " + x + ", wanted " + y;
    return {};
  }

  CheckpointTest()
      : device_(
            (setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1), device::load_device("gtx480").device)) {
    std::string name = testing::TempDir() + "checkpoint-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~CheckpointTest() override { std::filesystem::remove_all(folder_); }

  CheckpointOptions writing(const std::string& name, std::uint64_t every = 1) {
    return {folder_ / name, {}, every, {{"sm.count", "15"}}};
  }
  CheckpointOptions resuming(const std::string& name) {
    return {{}, folder_ / name, 0, {{"sm.count", "15"}}};
  }

  // Launches with a copy between them. first: the first word of the input.
  Outcome run(const CheckpointOptions& checkpoint, unsigned launches, bool ended = true,
              std::uint32_t first = 1, unsigned threads = 200) {
    Options options;
    options.mode = GetParam();
    options.checkpoint = checkpoint;
    Gpu gpu(device_, options);
    const ModuleId module = gpu.load_module("test.ptx", adder);
    const std::uint64_t x = gpu.allocate(words * 4, "x").value();
    std::vector<std::uint32_t> data(words, 7);
    data[0] = first;
    gpu.copy(reinterpret_cast<void*>(x), data.data(), words * 4, Gpu::CopyKind::host_to_device, 0, false);
    for (std::uint32_t i = 0; i < launches; ++i) {
      std::vector<std::byte> params(12);
      std::memcpy(params.data(), &x, 8);
      std::memcpy(params.data() + 8, &i, 4);
      gpu.launch(*gpu.find_kernel(module, "add"), {20 + 20 * i, 1, 1}, {threads, 1, 1}, 0, params, 0);
      if (i == 1)
        gpu.copy(reinterpret_cast<void*>(x + 400), data.data(), 4000, Gpu::CopyKind::host_to_device, 0,
                 false);
    }
    gpu.copy(data.data(), reinterpret_cast<void*>(x), words * 4, Gpu::CopyKind::device_to_host, 0, false);
    gpu.finish_checkpoint(ended);
    result::Result result = gpu.result();
    Outcome out{{}, data, result.kernels.back().metrics.get("gpu.cycles").value_or(0)};
    result::Metrics total;
    for (const auto& v : result.total.values())
      if (!v.name.starts_with("host."))
        v.is_integer ? total.set(v.name, v.integer) : total.set(v.name, v.real);
    result.total = total;
    out.result = result::to_json(result);
    return out;
  }
  std::string error(const CheckpointOptions& checkpoint, unsigned launches, std::uint32_t first = 1,
                    unsigned threads = 200) {
    try {
      run(checkpoint, launches, true, first, threads);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_input);
      return e.format();
    }
    return "no error";
  }
  std::string bytes(const std::string& name) {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }

  std::filesystem::path folder_;
  device::Device device_;
};

TEST_P(CheckpointTest, AResumedRunIsTheUninterruptedOne) {
  const Outcome whole = run({}, 4);
  for (const unsigned before : {1u, 2u, 3u, 4u}) {
    run(writing("c"), before, false);
    const Outcome resumed = run(resuming("c"), 4);
    EXPECT_EQ(difference(resumed.result, whole.result), "") << before;
    EXPECT_EQ(resumed.data, whole.data) << before;
  }
}

TEST_P(CheckpointTest, WhatIsInTheCachesIsPartOfIt) {
  if (GetParam() == Mode::functional) GTEST_SKIP();
  const Outcome whole = run({}, 2);
  run(writing("c"), 1, false);
  EXPECT_EQ(run(resuming("c"), 2).last_cycles, whole.last_cycles);
}

TEST_P(CheckpointTest, ARunMayGoOnSeveralTimes) {
  run(writing("c"), 1, false);
  for (const unsigned launches : {2u, 3u}) {
    CheckpointOptions both = writing("c");
    both.resume = both.write;
    run(both, launches, false);
  }
  EXPECT_EQ(stream::checkpoint::open(folder_ / "c")->launches().size(), 3u);
  EXPECT_EQ(difference(run(resuming("c"), 4).result, run({}, 4).result), "");
}

TEST_P(CheckpointTest, NamesTheFirstDifference) {
  run(writing("c"), 3, false);
  EXPECT_THAT(error(resuming("c"), 4, 2),
              HasSubstr("launch 1, kernel 'add': device memory holds something else"));
  EXPECT_THAT(error(resuming("c"), 4, 1, 100),
              HasSubstr("launch 1: the block of kernel 'add' was (200, 1, 1), now it is (100, 1, 1)"));
  EXPECT_THAT(error(resuming("c"), 2), HasSubstr("it holds 3 launches, this run made only 2"));
  CheckpointOptions other = resuming("c");
  other.run = {{"sm.count", "14"}};
  EXPECT_THAT(error(other, 4), HasSubstr("the run that it continues had sm.count = 15, this one has 14"));
}

TEST_P(CheckpointTest, DamagedFilesAreRefusedOrGoOnFromAnEarlierLaunch) {
  run(writing("c"), 3, false);
  const std::string good = bytes("c");
  const Outcome whole = run({}, 4);
  const std::size_t step = good.size() / 61 + 1;
  for (std::size_t at = 0; at < good.size(); at += step) {
    put("short", good.substr(0, at));
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x40);
    put("flipped", flipped);
    for (const char* name : {"short", "flipped"}) {
      try {
        EXPECT_EQ(difference(run(resuming(name), 4).result, whole.result), "") << name << " at " << at;
      } catch (const Error& e) { EXPECT_TRUE(e.id().starts_with("checkpoint-")) << e.format(); }
    }
  }
}

TEST_P(CheckpointTest, NothingIsLeftOfARunThatCompletedNothing) {
  { Checkpoint never(writing("c")); }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

INSTANTIATE_TEST_SUITE_P(Modes, CheckpointTest, testing::Values(Mode::timing, Mode::functional),
                         [](const auto& p) { return p.param == Mode::timing ? "timing" : "functional"; });

}  // namespace
}  // namespace simtlab::gpu
