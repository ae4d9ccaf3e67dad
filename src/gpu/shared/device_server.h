// The shared simulated GPU: one cycle-level GPU and one clock for the launches of several processes.
//
// Time goes on only when nobody could still ask for something earlier: every program waits for a kernel, or
// waits at the gate, or has let `patience` of real time pass without a word (its host code takes no simulated
// time, but the others shall not wait for it for ever; what it asks for later begins at the clock of then).
// So what runs beside what does not depend on how fast the programs' processes happen to be, as long as
// nobody's patience is needed.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "device/device.h"
#include "gpu/shared/device_protocol.h"
#include "stream/moved_launch.h"
#include "stream/trace/reader.h"
#include "stream/trace/replay.h"
#include "timing/timing.h"

namespace simtlab::gpu::shared {

struct DeviceOptions {
  std::filesystem::path directory;
  unsigned threads = 1;
  std::uint64_t patience_ns = 200'000'000;
  std::uint32_t clients = 512;
  std::function<bool(pid_t)> waits_at_gate;  // from the thread of run(), as is:
  // A process's kernel has ended; called before the process knows.
  std::function<void(pid_t, double begin_ns, double end_ns, const result::KernelResult&)> on_ended;
};

class DeviceServer {
 public:
  DeviceServer(const device::Device& device, DeviceOptions options);  // throws Error as Listener
  ~DeviceServer();
  void run();  // until stop(), from any thread
  void stop();
  void nudge();  // the gate has changed its mind about somebody

  struct Counts {
    double clock_ns = 0;
    std::uint64_t launches = 0, ended = 0, orphaned = 0, late = 0, impatient = 0, failed = 0;
  };
  // The simulated time, from any thread.
  double now_ns() const { return told_clock_ns_.load(std::memory_order_relaxed); }
  const Counts& counts() const { return counts_; }  // once run() has ended

 private:
  using Number = std::uint64_t;
  struct Finished {
    Answer answer;
    Descriptor result;
  };
  struct Client {
    Descriptor socket;
    pid_t pid = 0;
    bool opened = false, in_call = false, given_up = false;  // given_up: on, for now
    double until_ns = 0;
    std::uint64_t heard_ns = 0;  // real time
    std::deque<Finished> finished;
  };
  struct Job {
    std::uint64_t id = 0;
    Number owner = 0;  // 0: nobody any more
    std::unique_ptr<stream::trace::Reader> reader;
    std::unique_ptr<stream::trace::ReplayedLaunch> recorded;
    std::unique_ptr<stream::MovedLaunch> launch;
    timing::CycleGpu::Setup setup;
    double at_ns = 0;
    timing::CycleGpu::Id timing_id = 0;
  };

  void accept_all();
  void hear(Number number, Client& client);
  void on_call(Number number, Client& client, const Call& call, Descriptor file);
  void take_launch(Number number, Client& client, const Call& call, Descriptor file);
  void answer(Client& client, const Answer& answer, int pass = -1);
  void refuse(Client& client, const std::string& why);
  void lose(Number number);
  void forget_launches(Number number);
  bool deliver();
  double horizon(std::uint64_t real_ns, int& wait_ms);
  bool go_on(double horizon_ns);
  void begin_those_due();
  void end(timing::CycleGpu::Id id);
  void fail_all(const std::string& why);
  double time_of(std::uint64_t cycle) const {
    return period_ns_ + static_cast<double>(cycle) / device_.sm_clock_hz * 1e9;
  }
  std::uint64_t cycle_of(double ns) const;

  const device::Device device_;
  DeviceOptions options_;
  volatile bool interrupt_ = false;
  std::unique_ptr<timing::CycleGpu> make_gpu() const;
  Listener listener_;
  Descriptor wake_;
  std::map<Number, Client> clients_;
  std::vector<Job> waiting_, under_way_;
  std::unique_ptr<timing::CycleGpu> gpu_;
  Number next_client_ = 1;
  std::uint64_t next_job_ = 1;
  double clock_ns_ = 0, period_ns_ = 0;
  std::atomic<double> told_clock_ns_{0};
  std::vector<Number> gone_;
  Counts counts_;
};

}  // namespace simtlab::gpu::shared
