// simtlab doctor: what of simtlab is there, and which real boards can be measured.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/installation.h"
#include "gpu/board/cuda_check.h"
#include "result/json.h"
#include "studies/common/command.h"
#include "studies/common/output.h"
#include "studies/common/signals.h"

namespace simtlab::cli {
namespace {

using State = Finding::State;

struct DoctorOptions {
  std::optional<std::string> device;
  OutputOptions output;
};

constexpr const char* mode_names[] = {"default", "exclusive thread", "prohibited", "exclusive process"};

const char* mode_name(int mode) {
  return mode >= 0 && mode < static_cast<int>(std::size(mode_names)) ? mode_names[mode] : "unknown";
}
const char* state_name(State s) {
  return s == State::ok ? "ok" : s == State::missing ? "missing" : "optional";
}

std::string message_of(const Error& e) { return e.diagnostics().front().message; }
std::string hint_of(const Error& e) { return e.diagnostics().front().hint; }

// What can't be measured on a device that works, and what helps.
std::vector<Finding> limits_of(const gpu::CudaCheck& all, const gpu::CudaDeviceCheck& d) {
  std::vector<Finding> out;
  const auto add = [&](const char* what, std::string why, std::string remedy) {
    out.push_back({State::optional_missing, what, std::move(why), std::move(remedy)});
  };
  if (!d.facts) return out;
  add("counters",
      all.counters_need_admin.value_or(false)
          ? "simtlab reads no hardware counters, and this driver keeps them for administrators"
          : "simtlab reads no hardware counters of real boards",
      "levels of the memory are told apart by their latency; counts are those of the simulated twin");
  if (!all.graphs)
    add("graphs", "the driver has none in the form that is used (CUDA 11.0)",
        "a newer driver; launch overhead is measured without them");
  if (!all.tells_blocks_per_sm)
    add("blocks per SM", "the driver does not tell the most that an SM takes (CUDA 11.0)",
        "a newer driver; a test launch finds it out");
  if (static_cast<double>(d.facts->free_bytes) < 0.85 * static_cast<double>(d.facts->memory_bytes))
    add("undisturbed",
        fmt::format("{:.2f} GiB of its memory are in use: other programs may run on it",
                    static_cast<double>(d.facts->memory_bytes - d.facts->free_bytes) / (1 << 30)),
        "nvidia-smi lists them; measure when they have ended");
  if (d.display_watchdog)
    add("long kernels", "a display is connected: kernels of more than some seconds are ended",
        "measure on a device without a display, or without a graphical session");
  if (d.compute_mode == 1 || d.compute_mode == 3)
    add("beside others", fmt::format("compute mode {}: one process at a time", mode_name(d.compute_mode)),
        "an administrator can change it: nvidia-smi -c DEFAULT");
  if (d.facts->ecc.value_or(false))
    add("memory without ECC", "ECC is on: bandwidth is what it leaves",
        "none is needed; the device file says so");
  if (d.clock_hz && d.facts->sm_clock_hz && *d.clock_hz < 0.97 * *d.facts->sm_clock_hz)
    add("the highest clock",
        fmt::format("runs at {:.0f} MHz of {:.0f}", *d.clock_hz * 1e-6, *d.facts->sm_clock_hz * 1e-6),
        "power, temperature or an administrator's limit; nvidia-smi -q -d CLOCK,PERFORMANCE says which. "
        "Cycles are not concerned, times are");
  return out;
}

std::string line(const std::string& state, const std::string& what, const std::string& found,
                 const std::string& remedy) {
  std::string out = fmt::format("  {:<9}{:<24} {}\n", state, what, found);
  if (!remedy.empty()) out += fmt::format("  {:<33} -> {}\n", "", remedy);
  return out;
}

std::string clock_text(const gpu::CudaDeviceCheck& d) {
  const auto mhz = [](const std::optional<double>& hz) {
    return hz ? fmt::format("{:.0f} MHz", *hz * 1e-6) : std::string("not told");
  };
  return fmt::format("SM at most {}, measured {}; memory at most {}", mhz(d.facts->sm_clock_hz),
                     mhz(d.clock_hz), mhz(d.facts->memory_clock_hz));
}

std::string device_text(const gpu::CudaCheck& all, const gpu::CudaDeviceCheck& d) {
  std::string out =
      line(d.problem ? "problem" : "ok", fmt::format("device {}", d.name.index), d.name.name, "");
  const auto detail = [&](const char* what, const std::string& text) {
    out += fmt::format("  {:<9}  {:<22} {}\n", "", what, text);
  };
  if (!d.name.uuid.empty()) detail("uuid", d.name.uuid);
  if (!d.name.bus_id.empty()) detail("bus", d.name.bus_id);
  if (d.facts) {
    detail("compute capability",
           fmt::format("{}.{}, {} SMs", d.facts->cc_major, d.facts->cc_minor, d.facts->sms));
    detail("memory", fmt::format("{:.2f} GiB, {:.2f} GiB free{}",
                                 static_cast<double>(d.facts->memory_bytes) / (1 << 30),
                                 static_cast<double>(d.facts->free_bytes) / (1 << 30),
                                 d.facts->ecc.value_or(false) ? ", ECC on" : ""));
    detail("clocks", clock_text(d));
    detail("compute mode", mode_name(d.compute_mode));
  }
  if (d.problem)
    return out + line("", "  can't be used", fmt::format("{} [{}]", message_of(*d.problem), d.problem->id()),
                      hint_of(*d.problem));
  for (const Finding& f : limits_of(all, d)) out += line("", "  not measured: " + f.what, f.found, f.remedy);
  return out;
}

// Whether the account may use the device. Only where `files` are known.
Finding permission_of(const gpu::CudaCheck& cuda) {
  std::string usable, refused;
  for (const gpu::DeviceFile& f : *cuda.files)
    (f.usable ? usable : refused) += (f.usable ? usable : refused).empty() ? f.path : " " + f.path;
  if (!refused.empty())
    return {State::optional_missing, "permission", "not readable and writable: " + refused,
            "add the account to their group (ls -l /dev/nvidia*), or let an administrator change it"};
  if (usable.empty())
    return {State::optional_missing, "permission",
            "there is no /dev/nvidiactl: no kernel module of NVIDIA's is loaded, or the container is not "
            "given the device",
            "modprobe nvidia as an administrator; containers: --gpus all, or --device /dev/nvidia0 and its "
            "fellows"};
  return {State::ok, "permission", usable, {}};
}

std::string as_text(const std::vector<Finding>& installation, const gpu::CudaCheck& cuda) {
  std::string out = "installation\n";
  for (const Finding& f : installation) out += line(state_name(f.state), f.what, f.found, f.remedy);
  out += "real boards\n";
  if (!cuda.driver.empty())
    out += line("ok", "driver", fmt::format("{} ({})", cuda.driver, cuda.library), "");
  if (cuda.files) {
    const Finding f = permission_of(cuda);
    out += line(f.state == State::ok ? "ok" : "none", f.what, f.found, f.remedy);
  }
  if (cuda.problem)
    out +=
        line("none", cuda.driver.empty() ? "driver" : "device",
             fmt::format("{} [{}]", message_of(*cuda.problem), cuda.problem->id()), hint_of(*cuda.problem));
  for (const gpu::CudaDeviceCheck& d : cuda.devices) out += device_text(cuda, d);
  return out;
}

std::string json_findings(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& f : findings)
    out += fmt::format("{}\n      {{\"what\": {}, \"state\": {}, \"found\": {}, \"remedy\": {}}}",
                       out.empty() ? "" : ",", result::json_string(f.what),
                       result::json_string(state_name(f.state)), result::json_string(f.found),
                       result::json_string(f.remedy));
  return out;
}

std::string json_problem(const std::optional<Error>& e) {
  if (!e) return "null";
  return fmt::format("{{\"id\": {}, \"message\": {}, \"remedy\": {}}}", result::json_string(e->id()),
                     result::json_string(message_of(*e)), result::json_string(hint_of(*e)));
}

std::string json_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "null";
}

std::string json_device(const gpu::CudaCheck& all, const gpu::CudaDeviceCheck& d) {
  std::string out = fmt::format("\n    {{\"index\": {}, \"name\": {}, \"uuid\": {}, \"bus_id\": {}",
                                d.name.index, result::json_string(d.name.name),
                                result::json_string(d.name.uuid), result::json_string(d.name.bus_id));
  if (d.facts) {
    const gpu::BoardFacts& f = *d.facts;
    out += fmt::format(
        ", \"compute_capability\": \"{}.{}\", \"sms\": {}, \"memory_bytes\": {}, \"free_bytes\": {}, "
        "\"sm_clock_hz\": {}, \"measured_clock_hz\": {}, \"memory_clock_hz\": {}, "
        "\"compute_mode\": {}, \"display_watchdog\": {}, \"integrated\": {}, \"ecc\": {}",
        f.cc_major, f.cc_minor, f.sms, f.memory_bytes, f.free_bytes, json_number(f.sm_clock_hz),
        json_number(d.clock_hz), json_number(f.memory_clock_hz),
        result::json_string(mode_name(d.compute_mode)), d.display_watchdog, d.integrated,
        f.ecc ? (*f.ecc ? "true" : "false") : "null");
  }
  return out + fmt::format(", \"usable\": {}, \"problem\": {}, \"not_measured\": [{}]}}", !d.problem,
                           json_problem(d.problem),
                           json_findings(d.problem ? std::vector<Finding>{} : limits_of(all, d)));
}

std::string as_json(const std::vector<Finding>& installation, const gpu::CudaCheck& cuda) {
  std::string devices;
  for (const gpu::CudaDeviceCheck& d : cuda.devices)
    devices += (devices.empty() ? "" : ",") + json_device(cuda, d);
  return fmt::format(
      "{{\n  \"schema\": {},\n  \"installation\": [{}],\n  \"driver\": {{\"library\": {}, \"version\": {}, "
      "\"graphs\": {}, \"permission\": [{}], \"problem\": {}}},\n  \"devices\": [{}]\n}}\n",
      result::json_schema, json_findings(installation), result::json_string(cuda.library),
      result::json_string(cuda.driver), cuda.graphs, cuda.files ? json_findings({permission_of(cuda)}) : "",
      json_problem(cuda.problem), devices);
}

// Installation first: without data nothing works. Then the device, if one was asked for.
std::optional<Error> verdict(const DoctorOptions& o, const std::vector<Finding>& installation,
                             const gpu::CudaCheck& cuda) {
  for (const Finding& f : installation)
    if (f.state == State::missing)
      return Error(ExitCode::unavailable, "doctor", fmt::format("{}: {}", f.what, f.found), f.remedy);
  if (!o.device) return std::nullopt;
  if (cuda.problem) return cuda.problem;
  for (const gpu::CudaDeviceCheck& d : cuda.devices)
    if (d.problem) return Error(ExitCode::unavailable, d.problem->id(), d.problem->diagnostics());
  return std::nullopt;
}

Outcome run_doctor(DoctorOptions& o) {
  check_outputs(o.output);
  const Signals signals(0);
  const std::vector<Finding> installation = check_installation();
  const gpu::CudaCheck cuda = gpu::check_cuda(o.device, {.interrupt = signals.flag()});
  Outcome out;
  out.json = [text = as_json(installation, cuda)] { return text; };
  out.text = [text = as_text(installation, cuda)](const report::Style&) { return text; };
  out.failure = verdict(o, installation, cuda);
  out.output = o.output;
  return out;
}

}  // namespace

void add_doctor(Command& app) {
  Command* sub = app.add_subcommand(
      "doctor", "What of simtlab is there, which real boards can be measured, and what helps");
  const auto o = std::make_shared<DoctorOptions>();
  sub->add_option("--device", o->device, "Exit code 7 if this real board can't be used: its index or UUID")
      ->check(not_empty())
      ->type_name("N|UUID");
  sub->add_option("--json", o->output.json, "As JSON to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]");
  sub->add_option("-o,--output", o->output.output, "The text goes to FILE")
      ->check(output_file())
      ->type_name("FILE");
  sub->action([o](const Call&) { return run_doctor(*o); });
}

}  // namespace simtlab::cli
