#include "gpu/board/cuda_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "gpu/board/cuda_devices.h"
#include "gpu/board/cuda_driver.h"

namespace simtlab::gpu {
namespace {

using namespace board;

// One warp that goes on for `n` clocks and says how many it were.
std::string spin_ptx(int cc) {
  return fmt::format(R"(.version 6.0
.target sm_{}
.address_size 64
.visible .entry spin(.param .u64 out, .param .u64 n)
{{
  .reg .pred %p<2>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [out];
  ld.param.u64 %d2, [n];
  mov.u64 %d3, %clock64;
AGAIN:
  mov.u64 %d4, %clock64;
  sub.u64 %d5, %d4, %d3;
  setp.lt.u64 %p1, %d5, %d2;
  @%p1 bra AGAIN;
  st.global.u64 [%d1], %d5;
  ret;
}}
)",
                     cc < 3   ? 20
                     : cc < 5 ? 30
                              : 50);
}

struct Spin {
  double ns = 0;
  std::uint64_t clocks = 0;
};

Spin spin(Board& board, Board::Function function, std::uint64_t out, std::uint64_t clocks) {
  Board::Launch l;
  l.function = function;
  l.grid = {1, 1, 1}, l.block = {32, 1, 1};
  l.arguments = Arguments(out, clocks);
  const Board::Event begin = board.record(0);
  board.launch(l);
  const Board::Event end = board.record(0);
  Spin s;
  s.ns = board.elapsed_ns(begin, end);
  board.copy_out(&s.clocks, out, sizeof s.clocks, {});
  if (s.clocks < clocks)
    throw Error(ExitCode::unavailable, "board-lost", "a kernel gave a wrong result",
                "the device or its memory is not in order");
  return s;
}

// The difference of two lengths has neither launch nor end in it. A clock that is still rising is measured
// again, until it stays.
double clock_of(Board& board) {
  constexpr std::uint64_t shorter = 1000000, longer = 3000000;
  constexpr int most = 200, enough = 3;
  constexpr double same = 0.003;
  const std::uint64_t out = board.allocate(8);
  const Board::Function f = board.function(board.load("spin.ptx", spin_ptx(board.facts().cc_major)), "spin");
  spin(board, f, out, 1000);
  double last = 0;
  for (int i = 0, in_a_row = 0; i < most && in_a_row < enough; ++i) {
    const Spin a = spin(board, f, out, shorter), b = spin(board, f, out, longer);
    if (b.ns <= a.ns) continue;  // the clock changed between
    const double now = static_cast<double>(b.clocks - a.clocks) / (b.ns - a.ns) * 1e9;
    in_a_row = std::abs(now - last) <= same * now ? in_a_row + 1 : 0;
    last = now;
  }
  return last;
}

CudaDeviceCheck check_device(const Driver& d, const BoardName& name, const CudaOptions& options) {
  CudaDeviceCheck out;
  out.name = name;
  try {
    const DeviceHandle device = handle_of(d, name.index);
    out.facts = facts_of(d, name);
    out.compute_mode = attribute(d, device, compute_mode).value_or(mode_default);
    out.display_watchdog = attribute(d, device, kernel_timeout).value_or(0) != 0;
    out.integrated = attribute(d, device, integrated).value_or(0) != 0;
    const auto board = cuda_board(std::to_string(name.index), options);
    out.facts = board->facts();
    if (const double hz = clock_of(*board); hz > 0) out.clock_hz = hz;
  } catch (const Error& e) {
    if (e.code() == ExitCode::interrupted) throw;
    out.problem = e;
  }
  return out;
}

// A line "RmProfilingAdminOnly: 1" of what the kernel module was loaded with.
std::optional<bool> counters_need_admin() {
  std::ifstream file("/proc/driver/nvidia/params");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("RmProfilingAdminOnly:")) return line.find('1') != std::string::npos;
  return std::nullopt;
}

}  // namespace

std::vector<DeviceFile> device_files(const std::filesystem::path& folder) {
  std::vector<DeviceFile> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool numbered =
        name.size() > 6 && name.starts_with("nvidia") && name.find_first_not_of("0123456789", 6) == name.npos;
    if (numbered || name == "nvidiactl" || name == "nvidia-uvm")
      out.push_back({entry.path().string(), ::access(entry.path().c_str(), R_OK | W_OK) == 0});
  }
  std::ranges::sort(out, {}, &DeviceFile::path);
  return out;
}

CudaCheck check_cuda(const std::optional<std::string>& only, const CudaOptions& options) {
  CudaCheck out;
  const char* chosen = std::getenv("SIMTLAB_CUDA_DRIVER");
  const bool given = chosen != nullptr && *chosen != '\0';
  out.library = given ? chosen : "libcuda.so.1";
  if (!given) out.files = device_files("/dev");
  try {
    const Driver& d = driver();
    out.library = d.library;
    out.driver = d.text();
    out.graphs = d.has_graphs();
    out.tells_blocks_per_sm = d.version >= 11000;
    if (!d.chosen) out.counters_need_admin = counters_need_admin();
    for (const BoardName& name : only ? std::vector{find_device(d, *only)} : devices(d))
      out.devices.push_back(check_device(d, name, options));
  } catch (const Error& e) {
    if (e.code() == ExitCode::interrupted) throw;
    out.problem = e;
  }
  return out;
}

}  // namespace simtlab::gpu
