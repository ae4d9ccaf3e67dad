// What `simtlab doctor` wants to know: the driver, its devices, and whether each can be used.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "gpu/board/board.h"

namespace simtlab::gpu {

struct CudaDeviceCheck {
  BoardName name;
  std::optional<BoardFacts> facts;  // absent: the driver does not tell; `problem` says why
  int compute_mode = 0;             // 0 default, 2 prohibited, 3 exclusive process
  bool display_watchdog = false, integrated = false;
  std::optional<double> clock_hz;  // of an SM, measured under a short load
  std::optional<Error> problem;    // why it can't be used
};

// What the driver's kernel module offers in /dev, and whether this account may use it.
struct DeviceFile {
  std::string path;
  bool usable = false;
};
// nvidiactl, nvidia-uvm and nvidia0, 1, ...; those that are there, by name. folder: /dev.
std::vector<DeviceFile> device_files(const std::filesystem::path& folder);

struct CudaCheck {
  std::string library;  // asked for
  std::string driver;   // "CUDA 12.2, driver 535.104"; empty: none
  bool graphs = false, tells_blocks_per_sm = false;
  // Absent: SIMTLAB_CUDA_DRIVER names a driver, which may need none
  std::optional<std::vector<DeviceFile>> files;
  std::optional<bool> counters_need_admin;  // what the kernel module says; absent: nothing
  std::optional<Error> problem;             // why there is no driver or no device
  std::vector<CudaDeviceCheck> devices;
};

// Starts a kernel on every device, or on those named; takes a second a device at most.
CudaCheck check_cuda(const std::optional<std::string>& only = {}, const CudaOptions& options = {});

}  // namespace simtlab::gpu
