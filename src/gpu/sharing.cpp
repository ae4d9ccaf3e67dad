#include "gpu/sharing.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/shown.h"
#include "gpu/kernel_choice.h"

namespace simtlab::gpu {
namespace {

[[noreturn]] void refuse(std::string_view part, std::string_view why) {
  throw Error(ExitCode::usage, "sharing", fmt::format("--sharing: '{}' {}", shown(part, 60), why),
              "leftover, spatial, smk, serial, or SMs by kernel: 'matmul*=0-39,reduce=40-79'");
}

std::uint32_t number(std::string_view part, std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    refuse(part, "does not name SMs by their numbers from 0 on");
  return value;
}

Sharing::Part read_part(std::string_view part) {
  const std::size_t equals = part.rfind('=');
  if (equals == std::string_view::npos || equals == 0) refuse(part, "is neither a policy nor NAME=SMS");
  const std::string_view range = part.substr(equals + 1);
  const std::size_t dash = range.find('-');
  Sharing::Part out{std::string(part.substr(0, equals)), number(part, range.substr(0, dash)), 0};
  out.last_sm = dash == std::string_view::npos ? out.first_sm : number(part, range.substr(dash + 1));
  if (out.last_sm < out.first_sm) refuse(part, "is no range of SMs");
  return out;
}

}  // namespace

Sharing parse_sharing(std::string_view text) {
  Sharing out;
  if (const auto policy = timing::share_policy(text)) {
    out.policy = *policy;
    return out;
  }
  for (const std::string_view part : split_names(text)) out.parts.push_back(read_part(part));
  if (out.parts.empty()) refuse(text, "is no policy");
  return out;
}

timing::CycleGpu::Setup setup_of(const Sharing& sharing, const device::Device& device,
                                 const std::string& name, const std::string& demangled) {
  for (const Sharing::Part& part : sharing.parts) {
    if (!names_kernel(part.pattern, name, demangled)) continue;
    if (part.last_sm >= device.sm.count)
      throw Error(ExitCode::bad_input, "sharing",
                  fmt::format("--sharing binds kernel '{}' to SMs {} to {}, {} has {}", demangled,
                              part.first_sm, part.last_sm, device.name, device.sm.count),
                  "SMs are counted from 0");
    return {.first_sm = part.first_sm, .sms = part.last_sm - part.first_sm + 1};
  }
  return {};
}

}  // namespace simtlab::gpu
