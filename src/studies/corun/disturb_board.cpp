#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "gpu/board/board.h"
#include "hosts/cuda/board_launch.h"
#include "studies/corun/disturb.h"
#include "studies/validate/curves.h"

namespace simtlab::studies {
namespace {

// That the host may take between two launches; the micro-benchmark lasts for so much longer
constexpr double launching_ns = 5e6;

struct Flag {  // of the kernels of interfere.ptx
  std::uint32_t stop = 0, unused = 0, rounds = 0, unused_too[61] = {};
};

std::string for_board(std::string ptx, const gpu::BoardFacts& facts) {
  constexpr std::string_view written = ".target sm_30";
  const std::size_t at = ptx.find(written);
  SIMTLAB_ASSERT(at != std::string::npos, "the micro-benchmarks are ours");
  return ptx.replace(at, written.size(), ".target " + hosts::cuda::own_target(facts));
}

// Neither sizes nor rates can be had without: a guess would give a wrong number.
template <class T>
T told(const std::optional<T>& value, const char* what) {
  if (!value)
    throw Error(ExitCode::unavailable, "board-unknown",
                fmt::format("the driver does not tell {} of the board", what),
                "simtlab doctor lists what it tells");
  return *value;
}

class BoardDisturber {
 public:
  BoardDisturber(gpu::Board& board, const std::string& ptx, const hosts::cuda::BoardKernel& kernel,
                 unsigned repeat, const volatile bool* stop)
      : board_(board),
        kernel_(kernel),
        repeat_(repeat),
        stop_(stop),
        module_(board.load("interfere.ptx", for_board(ptx, board.facts()))) {
    bytes_ = noise_bytes(told(board.facts().l2_bytes, "the size of L2"));
    clock_hz_ = told(board.facts().sm_clock_hz, "the SMs' clock");
    buffer_ = board.allocate(bytes_.dram);
    board.fill(buffer_, std::byte{0}, bytes_.dram);
    flag_ = board.allocate(sizeof(Flag));
    noise_ = board.create_stream();
    stream_ = board.create_stream();
  }

  // Each launch begins with what the one before has left in its buffers and in L2.
  double alone() {
    run_kernel();
    std::vector<double> times;
    for (unsigned i = 0; i < repeat_; ++i) times.push_back(run_kernel());
    return alone_ns_ = studies::validate::median(times);
  }

  DisturbedPoint point(corun::Disturbance kind, unsigned busy) {
    std::vector<double> times, loads;
    for (unsigned i = 0; i < repeat_; ++i) {
      const auto [time, load] = beside(kind, busy);
      times.push_back(time), loads.push_back(load);
    }
    return {kind, busy, studies::validate::median(loads), studies::validate::median(times)};
  }

 private:
  void check() const {
    if (stop_ != nullptr && *stop_)
      throw Error(ExitCode::interrupted, "interrupted", "between two launches on the board");
  }

  double run_kernel() {
    check();
    gpu::Board::Launch launch = kernel_.launch;
    launch.stream = stream_;
    const gpu::Board::Event begin = board_.record(stream_);
    board_.launch(launch);
    return board_.elapsed_ns(begin, board_.record(stream_));
  }

  std::pair<double, double> beside(corun::Disturbance kind, unsigned busy) {
    check();
    const Flag none;
    board_.copy_in(flag_, &none, sizeof none);
    const bool compute = kind == corun::Disturbance::compute;
    const std::uint32_t rounds = noise_rounds((most_slowdown * alone_ns_ + launching_ns) * 1e-9 * clock_hz_);
    const auto mask =
        static_cast<std::uint32_t>((kind == corun::Disturbance::dram ? bytes_.dram : bytes_.l2) - 1);
    const gpu::Board::Event first = board_.record(noise_);
    board_.launch({board_.function(module_, compute ? "compute" : "traffic"),
                   {board_.facts().sms, 1, 1},
                   {noise_threads, 1, 1},
                   0,
                   gpu::Arguments(buffer_, mask, busy, rounds, std::uint32_t{0}, flag_),
                   noise_});
    const gpu::Board::Event last = board_.record(noise_);
    gpu::Board::Launch launch = kernel_.launch;
    launch.stream = stream_;
    const gpu::Board::Event begin = board_.record(stream_);
    board_.launch(launch);
    const gpu::Board::Event end = board_.record(stream_);
    board_.launch(
        {board_.function(module_, "stop"), {1, 1, 1}, {1, 1, 1}, 0, gpu::Arguments(flag_), stream_});
    board_.synchronize();
    const double time = board_.elapsed_ns(begin, end), noise = board_.elapsed_ns(first, last);
    Flag made;
    board_.copy_out(&made, flag_, sizeof made);
    if (made.rounds >= std::uint64_t{rounds} * board_.facts().sms)
      throw Error(
          ExitCode::bad_input, "corun-together",
          fmt::format("the kernel did not run beside the micro-benchmark ({} {}): that one ended before",
                      corun::name_of(kind), busy),
          "a kernel that fills every SM alone has no room for a block of 256 threads beside it");
    const double units = static_cast<double>(made.rounds) * busy;
    return {time, compute ? units * 32 * (noise_threads / 32) / (noise * 1e-9 * clock_hz_)
                          : units * 4 * 16 * noise_threads / (noise * 1e-9)};
  }

  gpu::Board& board_;
  const hosts::cuda::BoardKernel& kernel_;
  unsigned repeat_;
  const volatile bool* stop_;
  gpu::Board::Module module_;
  NoiseBytes bytes_;
  double clock_hz_ = 0;
  std::uint64_t buffer_ = 0, flag_ = 0;
  gpu::Board::Stream noise_ = 0, stream_ = 0;
  double alone_ns_ = 0;
};

}  // namespace

DisturbedKernel disturb_kernel_on_board(const KernelRun& run, const RunOptions& given,
                                        const OutputOptions& output, unsigned steps) {
  static_cast<void>(gpu::find_cuda_board(run.board.device));  // an absent one is told before anything runs
  options::Configuration configuration = resolve(given);
  configuration.options.mode = "functional";  // it tells how arguments lie in memory
  DisturbedKernel out;
  out.manifest = launch_to_disturb(
      run, configuration, output,
      [&](gpu::Gpu& gpu, const hosts::cuda::Launched& launched, const std::string& ptx,
          const std::string& noise, const volatile bool* stop) {
        const std::unique_ptr<gpu::Board> board = gpu::cuda_board(run.board.device, {.interrupt = stop});
        out.board = board->facts().name;
        const hosts::cuda::BoardKernel kernel = hosts::cuda::kernel_on_board(
            *board, ptx, launched, gpu, {.seed = configuration.options.seed, .interrupt = stop});
        out.name = kernel.name;
        BoardDisturber disturber(*board, noise, kernel, run.board.repeat, stop);
        out.alone_ns = disturber.alone();
        for (const auto& [kind, busy] : intensities_of(steps))
          out.points.push_back(disturber.point(kind, busy));
      });
  return out;
}

}  // namespace simtlab::studies
