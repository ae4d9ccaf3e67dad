// The real board's code on the mock driver, beside the simulated board: the same answers, the same times, and
// an error for whatever can go wrong.
#include "gpu/board/board.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "base/error.h"
#include "device/catalogue.h"
#include "gpu/board/cuda_check.h"

namespace simtlab::gpu {
namespace {

using testing::HasSubstr;

constexpr const char* mock_library = SIMTLAB_BINARY_DIR "/mockcuda/libsimtlab-mockcuda.so";
constexpr const char* board_ptx = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry add(.param .u64 x, .param .u32 n)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [x]; ld.param.u32 %r6, [n];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %d2, %r4, 4; add.s64 %d3, %d1, %d2;
  ld.global.u32 %r5, [%d3]; add.u32 %r5, %r5, %r6; st.global.u32 [%d3], %r5;
  ret;
}
.extern .shared .align 4 .b8 pool[];
.visible .entry pooled(.param .u64 x)
{
  .reg .b32 %r<4>; .reg .b64 %d<4>; .shared .align 4 .b8 own[1024];
  ld.param.u64 %d1, [x];
  mov.u32 %r1, pool; mov.u32 %r2, 7; st.shared.u32 [%r1], %r2; ld.shared.u32 %r3, [%r1]; st.global.u32 [%d1], %r3;
  mov.u32 %r1, own; st.shared.u32 [%r1], %r2;
  ret;
}
)";

// Each test sets what the mock is to do.
class Boards : public testing::Test {
 protected:
  Boards() {
    ::setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1);
    ::setenv("SIMTLAB_CUDA_DRIVER", mock_library, 1);
    ::setenv("SIMTLAB_MOCK_GPU", "v100", 1);
    ::unsetenv("SIMTLAB_MOCK_FAULT");
  }
  ~Boards() override {
    for (const char* name : {"SIMTLAB_CUDA_DRIVER", "SIMTLAB_MOCK_GPU", "SIMTLAB_MOCK_FAULT"})
      ::unsetenv(name);
  }
  static void fault(const char* what) { ::setenv("SIMTLAB_MOCK_FAULT", what, 1); }
  static std::unique_ptr<Board> simulated(const char* name = "v100") {
    return simulated_board(device::load_device(name).device);
  }

  // What the work gives, of either board.
  template <class Work>
  static void on_both(const Work& work, const char* device = "v100") {
    ::setenv("SIMTLAB_MOCK_GPU", device, 1);
    const auto wanted = work(*simulated(device));
    EXPECT_EQ(work(*cuda_board()), wanted);
  }
};

testing::AssertionResult board_error(const std::function<void()>& work, ExitCode code, const std::string& id,
                                     const std::string& says = {}) {
  try {
    work();
  } catch (const Error& e) {
    if (e.code() == code && e.id() == id && e.format().find(says) != std::string::npos)
      return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "another error: " << static_cast<int>(e.code()) << " " << e.format();
  }
  return testing::AssertionFailure() << "no error";
}

Board::Launch add_launch(Board& board, Board::Module module, std::uint64_t x, std::uint32_t n,
                         std::uint32_t blocks = 160) {
  Board::Launch l;
  l.function = board.function(module, "add");
  l.grid = {blocks, 1, 1}, l.block = {128, 1, 1};
  l.arguments = Arguments(x, n);
  return l;
}

constexpr std::uint64_t board_words = 160 * 128;

TEST_F(Boards, WhatTheDriverTellsIsWhatTheSimulatedBoardTells) {
  for (const char* name : {"gtx480", "k40", "v100", "h100"}) {
    ::setenv("SIMTLAB_MOCK_GPU", name, 1);
    const BoardFacts s = simulated(name)->facts(), r = cuda_board()->facts();
    EXPECT_FALSE(r.simulated);
    EXPECT_EQ(r.driver, "CUDA 12.2");
    EXPECT_EQ(r.uuid, "GPU-00102030-4050-6070-8090-a0b0c0d0e0f0");
    const auto both = [](const BoardFacts& f) {
      return std::tuple(f.name, f.cc_major, f.cc_minor, f.sms, f.warp_size, f.max_threads_per_sm,
                        f.max_blocks_per_sm, f.max_threads_per_block, f.registers_per_sm,
                        f.shared_bytes_per_sm, f.shared_bytes_per_block, f.shared_bytes_per_block_optin,
                        f.shared_reserved_per_block, f.constant_bytes, f.memory_bytes, f.free_bytes,
                        f.l2_bytes, f.bus_bits, f.l1_caches_global, f.copy_engines, f.concurrent_kernels);
    };
    EXPECT_EQ(both(r), both(s)) << name;
    EXPECT_NEAR(*r.sm_clock_hz, *s.sm_clock_hz, 1e3);
    EXPECT_EQ(r.memory_clock_hz.has_value(), s.memory_clock_hz.has_value());
  }
}

TEST_F(Boards, CopiesFillsAndKernelsGiveTheSame) {
  on_both([](Board& b) {
    const std::uint64_t x = b.allocate(board_words * 4), unused = b.allocate(0);
    EXPECT_EQ(x % 256, 0u);
    b.release(unused);
    std::vector<std::uint32_t> data(board_words);
    for (std::size_t i = 0; i < board_words; ++i) data[i] = static_cast<std::uint32_t>(i * 3);
    b.copy_in(x, data.data(), board_words * 4, {});
    b.fill(x, std::byte{0xff}, 64);
    const Board::Module module = b.load("test.ptx", board_ptx);
    b.launch(add_launch(b, module, x, 5));
    auto* pinned = static_cast<std::uint32_t*>(b.allocate_host(board_words * 4, true));
    auto* pageable = static_cast<std::uint32_t*>(b.allocate_host(board_words * 4, false));
    const Board::Stream stream = b.create_stream();
    b.synchronize();
    b.copy_out(pinned, x, board_words * 4, stream);
    b.synchronize();
    b.copy_out(pageable, x, board_words * 4, {});
    EXPECT_EQ(std::memcmp(pinned, pageable, board_words * 4), 0);
    std::vector<std::uint32_t> got(pinned, pinned + board_words);
    EXPECT_EQ(got[0], 4u);
    EXPECT_EQ(got[board_words - 1], (board_words - 1) * 3 + 5);
    b.release_host(pinned);
    b.destroy_stream(stream);
    b.unload(module);
    EXPECT_EQ(b.counters().values().empty(), !b.facts().simulated);
    return got;
  });
}

TEST_F(Boards, CopiesWithinTheDeviceGiveTheSameAndTakeTheSame) {
  on_both([](Board& b) {
    constexpr std::uint64_t bytes = 1 << 20;
    const std::uint64_t x = b.allocate(bytes), y = b.allocate(bytes), z = b.allocate(bytes);
    std::vector<std::uint32_t> data(bytes / 4), got(bytes / 4), other(bytes / 4);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint32_t>(i * 7);
    b.copy_in(x, data.data(), bytes);
    b.copy_within(y, x, bytes);
    b.copy_within(y, x, 0);
    const Board::Stream stream = b.create_stream();
    const Board::Event begin = b.record(stream);
    for (int i = 0; i < 3; ++i) b.copy_within(z + 64, y, bytes - 64, stream);
    const Board::Event end = b.record(stream);
    b.synchronize();
    const double ns = b.elapsed_ns(begin, end);
    b.copy_out(got.data(), y, bytes);
    b.copy_out(other.data(), z + 64, bytes - 64);
    EXPECT_EQ(got, data);
    EXPECT_EQ(std::memcmp(other.data(), data.data(), bytes - 64), 0);
    // Read and written: twice the bytes at no more than the memory's peak
    EXPECT_GT(ns, 3 * 2 * static_cast<double>(bytes - 64) / 900e9 * 1e9);
    b.destroy_stream(stream);
    return std::llround(ns);
  });
}

TEST_F(Boards, ACopyBeyondAnAllocationIsRefused) {
  const auto board = cuda_board();
  const std::uint64_t x = board->allocate(4096), y = board->allocate(4096);
  EXPECT_THROW(board->copy_within(y, x, 1 << 20), Error);
}

TEST_F(Boards, TimesAreThoseOfTheSimulatedBoard) {
  const auto work = [](Board& b) {
    const std::uint64_t x = b.allocate(board_words * 4);
    const Board::Module module = b.load("test.ptx", board_ptx);
    const Board::Launch launch = add_launch(b, module, x, 1);
    b.launch(launch);
    b.synchronize();
    std::vector<double> times;
    const double begin = b.host_now_ns();
    const Board::Event first = b.record(0);
    for (int i = 0; i < 3; ++i) b.launch(launch);
    const Board::Event last = b.record(0);
    times.push_back(b.elapsed_ns(first, last));
    const std::vector<Board::Launch> several(4, launch);
    const auto batch = b.make_batch(several);
    EXPECT_TRUE(batch.has_value());
    const Board::Stream stream = b.create_stream();
    const Board::Event before = b.record(stream);
    b.launch_batch(*batch, stream);
    const Board::Event after = b.record(stream);
    b.synchronize();
    times.push_back(b.elapsed_ns(before, after));
    times.push_back(b.host_now_ns() - begin);
    std::uint32_t value = 0;
    b.copy_out(&value, x, 4, {});
    EXPECT_EQ(value, 8u);
    return times;
  };
  const std::vector<double> wanted = work(*simulated()), got = work(*cuda_board());
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_GT(wanted[i], 0);
    EXPECT_NEAR(got[i], wanted[i], wanted[i] * 1e-6) << i;  // the driver's are milliseconds in 24 bits
  }
}

TEST_F(Boards, OccupancyAndRegistersAreTheSame) {
  for (const char* name : {"gtx480", "k40", "h100"})
    on_both(
        [](Board& b) {
          const Board::Function f = b.function(
              b.load("test.ptx",
                     std::string(b.facts().cc_major < 3 ? ".version 6.0\n.target sm_20\n"
                                                        : ".version 6.0\n.target sm_30\n") +
                         std::string(board_ptx).substr(std::strlen(".version 6.0\n.target sm_30\n"))),
              "add");
          b.prefer_l1(f);
          std::vector<std::uint32_t> out = {b.registers(f)};
          for (const std::uint32_t threads : {32u, 96u, 256u, 1024u})
            for (const std::uint32_t shared : {0u, 1000u, 40000u})
              out.push_back(b.blocks_per_sm(f, threads, shared));
          return out;
        },
        name);
}

TEST_F(Boards, MoreSharedMemoryThanEveryKernelMayHaveIsAskedForFirst) {
  const auto b = cuda_board();
  const std::uint64_t x = b->allocate(4);
  Board::Launch l;
  l.function = b->function(b->load("test.ptx", board_ptx), "pooled");
  l.grid = {1, 1, 1}, l.block = {32, 1, 1};
  l.shared_bytes = 60000;
  l.arguments = Arguments(x);
  EXPECT_TRUE(board_error([&] { b->launch(l); }, ExitCode::bad_input, "launch-shape", "60000 bytes"));
  b->allow_shared(l.function, 60000);
  b->launch(l);
  std::uint32_t value = 0;
  b->copy_out(&value, x, 4, {});
  EXPECT_EQ(value, 7u);
  EXPECT_THROW(b->allow_shared(l.function, 1 << 20), Error);
}

TEST_F(Boards, DevicesAreListedAndFoundByIndexAndUuid) {
  ::setenv("SIMTLAB_MOCK_GPU", "k40,h100", 1);
  const std::vector<BoardName> all = list_cuda_boards();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].bus_id, "0000:02:00.0");
  EXPECT_EQ(cuda_board("1")->facts().cc_major, 9);
  EXPECT_EQ(cuda_board(all[0].uuid)->facts().cc_major, 3);
  EXPECT_EQ(cuda_board("GPU-011121")->facts().cc_major, 9);
  for (const char* wrong : {"2", "-1", "GPU-", "GPU-ffff0000", "", "0x", "99999999999999999999"})
    EXPECT_TRUE(board_error([&] { cuda_board(wrong); }, ExitCode::unavailable, "board-none", "there is: 0 ("))
        << wrong;
}

TEST_F(Boards, WithoutUuidsTheIndexNamesADevice) {
  fault("no-uuid");
  EXPECT_EQ(list_cuda_boards().at(0).uuid, "");
  EXPECT_EQ(cuda_board("0")->facts().cc_major, 7);
}

TEST_F(Boards, WhatIsMissingIsSaidWithARemedy) {
  const auto open = [] { cuda_board(); };
  fault("no-device");
  EXPECT_TRUE(board_error(open, ExitCode::unavailable, "board-none", "CUDA_VISIBLE_DEVICES"));
  fault("busy");
  EXPECT_TRUE(board_error(open, ExitCode::unavailable, "board-busy", "compute mode"));
  EXPECT_EQ(list_cuda_boards().size(), 1u);  // listed all the same
  fault("busy-old");
  EXPECT_TRUE(board_error(open, ExitCode::unavailable, "board-busy", "compute mode"));
  fault("mismatch");
  EXPECT_TRUE(board_error(open, ExitCode::unavailable, "board-driver", "kernel module"));
  fault("permission");
  EXPECT_TRUE(board_error(open, ExitCode::unavailable, "board-permission", "/dev/nvidia"));
  ::setenv("SIMTLAB_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
  EXPECT_TRUE(board_error(open, ExitCode::unavailable, "board-driver", "SIMTLAB_CUDA_DRIVER"));
  ::setenv("SIMTLAB_CUDA_DRIVER", "libm.so.6", 1);
  EXPECT_TRUE(board_error(open, ExitCode::unavailable, "board-driver", "is no CUDA driver"));
  ::setenv("SIMTLAB_CUDA_DRIVER", SIMTLAB_BINARY_DIR "/mockcuda/libsimtlab-mockcuda-partial.so", 1);
  EXPECT_TRUE(board_error(open, ExitCode::unavailable, "board-driver", "has no cuDeviceGetCount"));
}

TEST_F(Boards, MemoryThatIsNotThereIsAFailureAndTheRestGoesOn) {
  fault("memory=1000000");
  const auto b = cuda_board();
  const std::uint64_t first = b->allocate(600000);
  EXPECT_TRUE(board_error([&] { b->allocate(600000); }, ExitCode::failure, "board-memory",
                          "allocating 600000 bytes"));
  b->release(first);
  EXPECT_NE(b->allocate(600000), 0u);
}

TEST_F(Boards, ADeviceLostInTheMiddleIsSaidByEveryCallAfter) {
  fault("lost=2");
  const auto b = cuda_board();
  const std::uint64_t x = b->allocate(board_words * 4);
  const Board::Launch l = add_launch(*b, b->load("test.ptx", board_ptx), x, 1);
  b->launch(l);
  b->launch(l);
  b->synchronize();
  EXPECT_TRUE(
      board_error([&] { b->launch(l); }, ExitCode::unavailable, "board-lost", "CUDA_ERROR_UNKNOWN (999)"));
  EXPECT_TRUE(board_error([&] { b->synchronize(); }, ExitCode::unavailable, "board-lost", "dmesg"));
  EXPECT_TRUE(board_error([&] { b->allocate(4); }, ExitCode::unavailable, "board-lost"));
}

TEST_F(Boards, AKernelsFaultIsTheProgramsNotTheBoards) {
  const auto b = cuda_board();
  b->launch(add_launch(*b, b->load("test.ptx", board_ptx), 4096, 1));
  EXPECT_TRUE(board_error([&] { b->synchronize(); }, ExitCode::program_failed, "board-kernel"));
}

TEST_F(Boards, WhatTheAssemblerSaysIsShown) {
  fault("jit");
  EXPECT_TRUE(board_error([] { cuda_board()->load("bad.ptx", board_ptx); }, ExitCode::bad_input, "board-ptx",
                          "the driver's assembler: ptxas fatal   : Ptx assembly aborted"));
  fault("ptx-version");
  EXPECT_TRUE(board_error([] { cuda_board()->load("new.ptx", board_ptx); }, ExitCode::unavailable,
                          "board-driver-old",
                          "new.ptx, which is PTX 6.0 and too new for this driver (CUDA 12.2)"));
  ::unsetenv("SIMTLAB_MOCK_FAULT");
  const auto b = cuda_board();
  EXPECT_TRUE(board_error([&] { b->load("bad.ptx", "nonsense"); }, ExitCode::bad_input, "board-ptx",
                          "the driver's assembler: "));
  EXPECT_TRUE(board_error([&] { b->load("new.ptx", ".version 7.8\n.target sm_90\n.address_size 64\n"); },
                          ExitCode::bad_input, "board-ptx", ".target"));
  EXPECT_TRUE(board_error([&] { b->function(b->load("test.ptx", board_ptx), "absent"); }, ExitCode::bad_input,
                          "launch-kernel", "'absent'"));
}

TEST(DeviceFiles, ThoseOfTheDriverAreFoundByTheirNames) {
  const std::filesystem::path folder = testing::TempDir() + "/simtlab_dev_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  EXPECT_TRUE(device_files(folder).empty());
  EXPECT_TRUE(device_files(folder / "absent").empty());
  for (const char* name :
       {"nvidia1", "nvidia0", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia", "null", "nvidiax"})
    std::ofstream(folder / name) << "";
  std::filesystem::permissions(folder / "nvidia1", std::filesystem::perms::none);
  std::vector<std::string> names;
  for (const DeviceFile& f : device_files(folder)) {
    names.push_back(std::filesystem::path(f.path).filename().string());
    EXPECT_EQ(f.usable, names.back() != "nvidia1" || ::geteuid() == 0) << f.path;  // root may do anything
  }
  EXPECT_THAT(names, testing::ElementsAre("nvidia-uvm", "nvidia0", "nvidia1", "nvidiactl"));
  std::filesystem::remove_all(folder);
}

TEST_F(Boards, BadLaunchesAreRefusedAndTheBoardGoesOn) {
  const auto b = cuda_board();
  const std::uint64_t x = b->allocate(board_words * 4);
  Board::Launch l = add_launch(*b, b->load("test.ptx", board_ptx), x, 1);
  l.block.x = 2048;
  EXPECT_TRUE(board_error([&] { b->launch(l); }, ExitCode::bad_input, "launch-shape", "(2048,1,1) threads"));
  l.block.x = 128;
  b->launch(l);
  b->synchronize();
}

// A kernel that never ends can't be called back: the wait for it is left, the board is given up, and the
// process ends with its own status.
TEST_F(Boards, AnInterruptEndsTheWaitForAKernelThatNeverEnds) {
  fault("hang=1");
  const auto interrupted_wait = [](bool by_event) {
    static volatile bool stop = false;
    const auto b = cuda_board("0", {.interrupt = &stop});
    const std::uint64_t x = b->allocate(board_words * 4);
    const Board::Module module = b->load("test.ptx", board_ptx);
    const Board::Launch l = add_launch(*b, module, x, 1);
    b->launch(l);
    b->synchronize();
    const Board::Event first = b->record(0);
    b->launch(l);
    const Board::Event last = b->record(0);
    std::thread later([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      stop = true;
    });
    try {
      if (by_event)
        b->elapsed_ns(first, last);
      else
        b->fill(x, std::byte{0}, 4);
    } catch (const Error& e) {
      later.join();
      // What cleans up behind it must not wait, either.
      b->release(x);
      b->unload(module);
      if (e.code() == ExitCode::interrupted) return;
    }
    std::_Exit(1);
  };
  for (const bool by_event : {false, true})
    EXPECT_EXIT(
        {
          interrupted_wait(by_event);
          std::atexit([] { std::_Exit(9); });
          std::exit(130);
        },
        testing::ExitedWithCode(9), "");
  // The board's own end comes first where the driver registered before it.
  EXPECT_EXIT(
      {
        std::atexit([] { std::_Exit(9); });
        interrupted_wait(true);
        std::exit(130);
      },
      testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace simtlab::gpu
