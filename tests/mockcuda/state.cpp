#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "device/catalogue.h"
#include "mock.h"

namespace simtlab::gpu::board::mock {
namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    if (end > at) out.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

Faults parse_faults(const std::string& list) {
  Faults f;
  for (const std::string& word : split(list)) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::uint64_t value =
        equals == word.npos ? 0 : std::strtoull(word.c_str() + equals + 1, nullptr, 10);
    if (name == "no-device")
      f.no_device = true;
    else if (name == "busy")
      f.busy = true;
    else if (name == "busy-old")
      f.busy = f.busy_old = true;
    else if (name == "jit")
      f.jit = true;
    else if (name == "ptx-version")
      f.ptx_version = true;
    else if (name == "mismatch")
      f.mismatch = true;
    else if (name == "permission")
      f.permission = true;
    else if (name == "no-uuid")
      f.no_uuid = true;
    else if (name == "memory")
      f.memory = value;
    else if (name == "used")
      f.used = value;
    else if (name == "lost")
      f.lost = value;
    else if (name == "hang")
      f.hang = value;
    else
      throw Error(ExitCode::usage, "option-value",
                  fmt::format("SIMTLAB_MOCK_FAULT: no fault is called {}", name));
  }
  return f;
}

int number_after(const char* text, const char* word) {
  const char* at = std::strstr(text, word);
  return at == nullptr ? 0 : std::atoi(at + std::strlen(word));
}

}  // namespace

State& state() {
  static State s;
  return s;
}

// Once more while no context is held: a test may have changed the environment.
void start(State& s) {
  for (const auto& d : s.devices)
    if (d->retained > 0) return;
  s.version = std::atoi(variable("SIMTLAB_MOCK_VERSION", "12020").c_str());
  s.faults = parse_faults(variable("SIMTLAB_MOCK_FAULT", ""));
  s.mode = s.faults.busy ? mode_exclusive_process : mode_default;
  s.current = nullptr;
  s.devices.clear();
  for (const std::string& name : split(variable("SIMTLAB_MOCK_GPU", "v100"))) {
    auto d = std::make_unique<DeviceState>();
    d->device = device::load_device(name).device;
    d->facts = simulated_board(d->device)->facts();
    s.devices.push_back(std::move(d));
  }
  s.initialised = true;
}

std::string refusal(const State& s, const device::Device& device, const char* ptx, Result& result) {
  result = invalid_ptx;
  if (s.faults.jit)
    return "ptxas application ptx input, line 7; fatal   : Parsing error near 'mock': syntax error\nptxas "
           "fatal   : Ptx assembly aborted due to errors";
  if (s.faults.ptx_version) {
    result = unsupported_ptx_version;
    return "ptxas application ptx input, line 1; fatal   : Unsupported .version 8.7; current version is "
           "'8.2'";
  }
  const int target = number_after(ptx, ".target sm_"), own = device.cc_major * 10 + device.cc_minor;
  if (target > own)
    return fmt::format(
        "ptxas fatal   : SM version specified by .target is higher than default SM version assumed: sm_{} "
        "above sm_{}",
        target, own);
  return {};
}

}  // namespace simtlab::gpu::board::mock
