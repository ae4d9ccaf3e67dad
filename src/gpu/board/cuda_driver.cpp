#include "gpu/board/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>

namespace simtlab::gpu::board {
namespace {

constexpr const char* install_hint =
    "install NVIDIA's driver (Debian: nvidia-driver with libcuda1) or, in a container, let the runtime pass "
    "the host's in; `simtlab doctor` says more. A simulated GPU needs none: --gpu NAME";

Error no_driver(const std::string& message, const char* hint = install_hint) {
  return {ExitCode::unavailable, "board-driver", message, hint};
}

std::string version_text(int version) {
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

// The kernel module says it itself; a container may not show it.
std::string kernel_module_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string text;
  std::getline(file, text);
  return text.substr(0, 40);
}

template <class Function>
bool find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, symbol));
  return function != nullptr;
}

void check_version(Driver& d, void* library) {
  if (!find(library, "cuDriverGetVersion", d.driver_version))
    throw no_driver(fmt::format("{} is no CUDA driver: it has no cuDriverGetVersion", d.library));
  if (d.driver_version(&d.version) != success)
    throw no_driver(fmt::format("{} does not tell its version", d.library));
  if (d.version < oldest_version)
    throw Error(ExitCode::unavailable, "board-driver-old",
                fmt::format("{} is of {}, and simtlab needs that of {} at least", d.library,
                            version_text(d.version), version_text(oldest_version)),
                "install a newer driver of NVIDIA's (R384 or later)");
}

// Where the loader looks; else where containers and WSL have it without telling the loader.
void* open_library(Driver& d) {
  ::dlerror();
  void* library = ::dlopen(d.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* text = library == nullptr ? ::dlerror() : nullptr;
  const std::string why = text == nullptr ? d.library : text;
  if (!d.chosen)
    for (const char* folder : {"/usr/local/nvidia/lib64/", "/usr/lib/wsl/lib/"})
      if (library == nullptr &&
          (library = ::dlopen((folder + d.library).c_str(), RTLD_NOW | RTLD_LOCAL)) != nullptr) {
        d.library = folder + d.library;
        break;
      }
  if (library == nullptr)
    throw no_driver(fmt::format("the CUDA driver cannot be loaded: {}", why),
                    d.chosen ? "SIMTLAB_CUDA_DRIVER names it; unset it for libcuda.so.1" : install_hint);
  if (::dlsym(library, "simtlab_cuda_state") != nullptr)
    throw no_driver(fmt::format("{} belongs to simtlab and simulates a GPU", d.library),
                    "take the folder of simtlab's libraries out of LD_LIBRARY_PATH");
  return library;
}

Driver load(const std::string& name, bool chosen) {
  Driver d;
  d.library = name;
  d.chosen = chosen;
  // Otherwise a kernel is brought to the device at its first launch or question, in the middle of a
  // measurement; and that may wait for kernels that run.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  void* library = open_library(d);
  check_version(d, library);
#define SIMTLAB_CUDA_FIND(member, symbol, parameters)                                              \
  if (!find(library, #symbol, d.member))                                                           \
    throw no_driver(fmt::format("{} ({}) has no {}", d.library, version_text(d.version), #symbol), \
                    "the library is incomplete: install the driver anew");
  SIMTLAB_CUDA_NEEDED(SIMTLAB_CUDA_FIND)
#undef SIMTLAB_CUDA_FIND
#define SIMTLAB_CUDA_FIND(member, symbol, parameters) find(library, #symbol, d.member);
  SIMTLAB_CUDA_OPTIONAL(SIMTLAB_CUDA_FIND)
#undef SIMTLAB_CUDA_FIND
  if (chosen)
    find(library, "simtlab_host_now_ns", d.host_now_ns);
  else
    d.kernel_version = kernel_module_version();
  return d;
}

struct Meaning {
  Result result;
  ExitCode code;
  const char *id, *hint;
};

constexpr const char* lost_hint =
    "the device or the driver failed: see the kernel's log (dmesg, lines with Xid), then reload the driver "
    "or restart the machine";
constexpr const char* kernel_hint =
    "the kernel is at fault; `simtlab run` of the same launch on a simulated GPU names the line, the thread "
    "and the address";

constexpr Meaning meanings[] = {
    {out_of_memory, ExitCode::failure, "board-memory",
     "measure with less: --quick, or end other programs that use the device"},
    {stub_library, ExitCode::unavailable, "board-driver",
     "this libcuda.so.1 is the toolkit's stub to link with: take its folder out of LD_LIBRARY_PATH"},
    {device_unavailable, ExitCode::unavailable, "board-busy",
     "another process uses the device and its compute mode is exclusive or prohibited: end it, or let an "
     "administrator run nvidia-smi -c DEFAULT"},
    {no_device, ExitCode::unavailable, "board-none",
     "no CUDA device is visible: look at CUDA_VISIBLE_DEVICES, /dev/nvidia0 and its permissions; a simulated "
     "GPU needs none: --gpu NAME"},
    {invalid_device, ExitCode::unavailable, "board-none", "`simtlab doctor` lists the devices"},
    {jit_compiler_not_found, ExitCode::unavailable, "board-driver",
     "install libnvidia-ptxjitcompiler.so.1 of the same driver"},
    {jit_compilation_disabled, ExitCode::unavailable, "board-driver", "unset CUDA_DISABLE_PTX_JIT"},
    {unsupported_ptx_version, ExitCode::unavailable, "board-driver-old",
     "install a newer driver, or write the kernel for an older PTX version (.version)"},
    {invalid_image, ExitCode::bad_input, "board-ptx", ""},
    {no_binary_for_gpu, ExitCode::bad_input, "board-ptx", "its .target is newer than the device"},
    {invalid_ptx, ExitCode::bad_input, "board-ptx", ""},
    {invalid_source, ExitCode::bad_input, "board-ptx", ""},
    {launch_out_of_resources, ExitCode::bad_input, "launch-resources",
     "fewer threads a block or less shared memory"},
    {illegal_address, ExitCode::program_failed, "board-kernel", kernel_hint},
    {device_assert, ExitCode::program_failed, "board-kernel", kernel_hint},
    {hardware_stack_error, ExitCode::program_failed, "board-kernel", kernel_hint},
    {illegal_instruction, ExitCode::program_failed, "board-kernel", kernel_hint},
    {misaligned_address, ExitCode::program_failed, "board-kernel", kernel_hint},
    {invalid_address_space, ExitCode::program_failed, "board-kernel", kernel_hint},
    {invalid_pc, ExitCode::program_failed, "board-kernel", kernel_hint},
    {launch_failed, ExitCode::program_failed, "board-kernel", kernel_hint},
    {launch_timeout, ExitCode::program_failed, "board-kernel",
     "the display's watchdog ended the kernel: take a device without a display"},
    {deinitialized, ExitCode::unavailable, "board-lost", lost_hint},
    {invalid_context, ExitCode::unavailable, "board-lost", lost_hint},
    {ecc_uncorrectable, ExitCode::unavailable, "board-lost", lost_hint},
    {nvlink_uncorrectable, ExitCode::unavailable, "board-lost", lost_hint},
    {operating_system, ExitCode::unavailable, "board-lost", lost_hint},
    {context_is_destroyed, ExitCode::unavailable, "board-lost", lost_hint},
    {unknown, ExitCode::unavailable, "board-lost", lost_hint},
    {not_initialized, ExitCode::unavailable, "board-driver", install_hint},
    {not_permitted, ExitCode::unavailable, "board-permission",
     "the account may not use the device: add it to the group of /dev/nvidia* (often `video` or `render`)"},
    {system_not_ready, ExitCode::unavailable, "board-driver",
     "the system's services for the device are not running (nvidia-fabricmanager on machines with NVSwitch)"},
    {system_driver_mismatch, ExitCode::unavailable, "board-driver",
     "the driver was updated and its kernel module was not: restart the machine or reload the module"},
    {compat_not_supported, ExitCode::unavailable, "board-driver",
     "the compatibility library of a newer CUDA does not serve this device: take its folder out of "
     "LD_LIBRARY_PATH"},
    {not_supported, ExitCode::unsupported, "board-unsupported", ""},
};

}  // namespace

std::string Driver::text() const {
  return kernel_version.empty() ? version_text(version)
                                : fmt::format("{}, driver {}", version_text(version), kernel_version);
}

const Driver& driver() {
  static std::mutex lock;
  static std::map<std::string, Driver> loaded;  // one unless SIMTLAB_CUDA_DRIVER changes meanwhile
  const char* chosen = std::getenv("SIMTLAB_CUDA_DRIVER");
  const bool given = chosen != nullptr && *chosen != '\0';
  const std::string name = given ? chosen : "libcuda.so.1";
  const std::lock_guard guard(lock);
  auto at = loaded.find(name);
  if (at == loaded.end()) at = loaded.emplace(name, load(name, given)).first;
  const Driver& d = at->second;
  check(d, d.init(0), "starting the CUDA driver");  // any number of times
  return d;
}

Error error_of(const Driver& d, Result result, std::string_view doing) {
  const char *name = nullptr, *text = nullptr;
  // Of a driver older than the code they may not know it.
  if (d.error_name == nullptr || d.error_name(result, &name) != success || name == nullptr)
    name = "an error that it has no name for";
  if (d.error_text == nullptr || d.error_text(result, &text) != success || text == nullptr) text = "";
  const std::string message =
      fmt::format("{}: {} ({}){}{}", doing, name, result, *text == '\0' ? "" : ": ", text);
  for (const Meaning& m : meanings)
    if (m.result == result) return {m.code, m.id, message, m.hint};
  return {ExitCode::failure, "board-error", message, "the CUDA driver's error, which simtlab did not expect"};
}

}  // namespace simtlab::gpu::board
