// One program under every mode and every observer: what it leaves in memory and prints must not depend on who
// looks.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/pulse.h"
#include "device/catalogue.h"
#include "gpu/gpu.h"
#include "gpu/shared_device.h"

namespace simtlab::gpu {

// A kernel of one module, launched once or more on one buffer, whose address is its only parameter.
struct Program {
  std::string ptx;
  std::vector<std::string> kernels;  // one a launch
  std::uint32_t blocks = 4, threads = 96;
  std::vector<std::uint32_t> words;  // of the buffer
  bool blocks_wait = false;          // for one another: some must be there together or in order
};

struct Left {
  std::vector<std::uint32_t> words;
  std::string printed;
  bool operator==(const Left&) const = default;
};

// A folder that goes away.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "simtlab-watched-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Ends launches in their order, each after a microsecond.
class FakeSharedDevice final : public SharedDevice {
 public:
  explicit FakeSharedDevice(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path trace_file() override { return folder_ / "launch.simt"; }
  double clock_ns() override { return clock_; }
  std::uint64_t begin(const std::filesystem::path& trace, const timing::CycleGpu::Setup&,
                      double at_ns) override {
    bytes_ += std::filesystem::file_size(trace);
    std::filesystem::remove(trace);
    clock_ = std::max(clock_, at_ns);
    waiting_.push_back(++id_);
    return id_;
  }
  std::optional<Ended> advance(double until_ns) override {
    if (waiting_.empty() || clock_ + 1000 > until_ns) return std::nullopt;
    Ended out{waiting_.front(), clock_, clock_ + 1000, {}};
    out.result.metrics.set("gpu.time", 1000.0);
    waiting_.pop_front();
    clock_ += 1000;
    return out;
  }
  void invalidate(std::uint64_t, std::uint64_t) override {}
  void check() override {}
  void give_up() override { waiting_.clear(); }

 private:
  std::filesystem::path folder_;
  std::deque<std::uint64_t> waiting_;
  std::uint64_t id_ = 0, bytes_ = 0;
  double clock_ = 0;
};

inline device::Device small_device(const char* name) {
  setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1);
  const device::Setting few{"sm.count", "3", {"test", "sm.count=3", "", false}};
  return device::load_device(name, std::vector<device::Setting>{few}).device;
}

inline Left run(const device::Device& device, Options options, const Program& program) {
  Left out;
  options.print = [&](std::string_view text) { out.printed += text; };
  Gpu gpu(device, options);
  const ModuleId module = gpu.load_module("test.ptx", program.ptx);
  const std::uint64_t bytes = program.words.size() * 4;
  const std::uint64_t buffer = gpu.allocate(bytes, "buffer").value();
  gpu.copy(reinterpret_cast<void*>(buffer), program.words.data(), bytes, Gpu::CopyKind::host_to_device, 0,
           false);
  std::vector<std::byte> params(8);
  std::memcpy(params.data(), &buffer, 8);
  for (const std::string& kernel : program.kernels)
    gpu.launch(gpu.find_kernel(module, kernel).value(), {program.blocks, 1, 1}, {program.threads, 1, 1}, 0,
               params, 0);
  out.words.resize(program.words.size());
  gpu.copy(out.words.data(), reinterpret_cast<void*>(buffer), bytes, Gpu::CopyKind::device_to_host, 0, false);
  gpu.synchronize();
  gpu.finish_recording();
  gpu.finish_checkpoint(true);
  return out;
}

struct Watcher {
  std::string name;
  std::function<void(Options&, const std::filesystem::path&)> look;
  bool leaves_blocks_out = false;  // they run behind the others
};

// Every mode, and everything that can look on in it.
inline std::vector<Watcher> watchers() {
  using Path = std::filesystem::path;
  static Pulse pulse;
  std::vector<Watcher> out;
  const auto add = [&](std::string name, Mode mode, std::function<void(Options&, const Path&)> look,
                       bool leaves_out = false) {
    out.push_back({std::string(name_of(mode)) + " " + name,
                   [=](Options& o, const Path& folder) {
                     o.mode = mode;
                     look(o, folder);
                   },
                   leaves_out});
  };
  for (const Mode mode : {Mode::functional, Mode::timing, Mode::cache, Mode::predict}) {
    add("alone", mode, [](Options&, const Path&) {});
    add("record", mode, [](Options& o, const Path& f) { o.record = f / "t.simt"; });
    add("live", mode, [](Options& o, const Path&) { o.pulse = &pulse; });
    add("live record", mode, [](Options& o, const Path& f) { o.pulse = &pulse, o.record = f / "t.simt"; });
    add("kernels", mode, [](Options& o, const Path&) { o.kernels = KernelChoice("2"); });
    add("kernels record", mode,
        [](Options& o, const Path& f) { o.kernels = KernelChoice("2"), o.record = f / "t.simt"; });
  }
  for (const Mode mode : {Mode::functional, Mode::timing}) {
    add("checkpoint", mode, [](Options& o, const Path& f) { o.checkpoint = {f / "c", {}, 1, {}}; });
    add("resume", mode, [](Options& o, const Path& f) {
      o.checkpoint = {{}, f / "c", 1, {}};
    });  // of the one before
  }
  add("3 threads", Mode::timing, [](Options& o, const Path&) { o.threads = 3; });
  add("lines", Mode::timing, [](Options& o, const Path&) { o.observe.lines = true; });
  add("series", Mode::timing, [](Options& o, const Path&) { o.observe.series = 100; });
  add("timeline", Mode::timing, [](Options& o, const Path&) { o.observe.timeline = {0, 1u << 20}; });
  add("all observers", Mode::timing, [](Options& o, const Path& f) {
    o.observe = {true, 100, {0, 1u << 20}};
    o.pulse = &pulse, o.record = f / "t.simt", o.threads = 2;
  });
  add(
      "sample", Mode::timing, [](Options& o, const Path&) { o.sample_error = 0.5; }, true);
  add(
      "sample record", Mode::timing,
      [](Options& o, const Path& f) { o.sample_error = 0.5, o.record = f / "t.simt"; }, true);
  add("no lowering", Mode::timing, [](Options& o, const Path&) { o.lowering = false; });
  add("what if", Mode::timing,
      [](Options& o, const Path&) { o.what_if.perfect_l1 = o.what_if.no_bank_conflicts = true; });
  add("serial", Mode::timing, [](Options& o, const Path&) { o.sharing = parse_sharing("serial"); });
  add("shared GPU", Mode::timing,
      [](Options& o, const Path& f) { o.shared = std::make_shared<FakeSharedDevice>(f); });
  add("shared GPU record", Mode::timing, [](Options& o, const Path& f) {
    o.shared = std::make_shared<FakeSharedDevice>(f);
    o.record = f / "t.simt";
  });
  for (const char* study :
       {"order=gto", "order=oldest", "order=two_level", "order=sequential", "order=round_robin",
        "order=random", "zero_latency=1", "wait=use,turn=access", "l2=0,prefetch=next-line"})
    add(study, Mode::cache, [study](Options& o, const Path&) { o.cache = cache::parse_options(study); });
  for (const char* study : {"sms=1-1", "groups=1-2", "sms=0-1,groups=2-3", "groups=900-901"})
    add(
        study, Mode::cache, [study](Options& o, const Path&) { o.cache = cache::parse_options(study); },
        true);
  add("whole", Mode::predict, [](Options& o, const Path&) { o.predict.whole = true; });
  return out;
}

}  // namespace simtlab::gpu
