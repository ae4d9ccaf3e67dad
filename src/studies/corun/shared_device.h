// A simulated GPU that programs share, in a thread of its own; the daemon tells it who waits at the gate.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "corun/live/core.h"
#include "gpu/shared/device_server.h"
#include "studies/common/command.h"

namespace simtlab::studies {

struct SharedDeviceOptions {
  std::string device;  // "sim:NAME", "sim:FILE.toml"
  unsigned threads = 1;
  double patience = 0.2;  // seconds of real time
  std::uint32_t clients = 512;
  bool learn = false;  // what it counts of each kernel becomes the kernel's profile
};

// --device (of which `device` is the sentence), --learn, --threads, --patience.
void add_shared_device(Command& command, SharedDeviceOptions& o, const std::string& device);
// Throws Error(usage, "corun-options").
void check_shared_device(const SharedDeviceOptions& o);

class SharedDevice {
 public:
  // Throws Error(usage, "corun-options") for a name of another form.
  SharedDevice(const SharedDeviceOptions& o, const std::filesystem::path& directory, corun::live::Core& core);
  ~SharedDevice() { stop(); }
  void stop();
  bool failed() const { return failed_; }
  std::string summary();  // stops it

 private:
  std::string name_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::unordered_map<std::int32_t, int> waiting_;
  // By process, begin and end on the clock of the device
  std::map<std::tuple<std::int32_t, std::uint64_t, std::uint64_t>, corun::Profile> ended_;
  std::optional<gpu::shared::DeviceServer> server_;
  std::thread thread_;
};

}  // namespace simtlab::studies
