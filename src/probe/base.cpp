#include "probe/base.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.h"

namespace simtlab::probe {
namespace {

enum Nearness { same_product, same_capability, same_generation, other_generation };

Nearness nearness(const device::Device& device, const gpu::BoardFacts& facts) {
  const bool same_major = device.cc_major == facts.cc_major,
             same = same_major && device.cc_minor == facts.cc_minor;
  if (same && device.product == facts.name) return same_product;
  return same ? same_capability : same_major ? same_generation : other_generation;
}

double ratio(double a, double b) { return a <= 0 || b <= 0 ? 0 : std::abs(std::log(a / b)); }

// What is smaller is nearer.
auto distance(const device::Device& device, const gpu::BoardFacts& facts) {
  const int capability = 10 * device.cc_major + device.cc_minor,
            wanted = 10 * facts.cc_major + facts.cc_minor;
  return std::tuple(nearness(device, facts), std::abs(capability - wanted), capability,
                    ratio(device.sm.count, facts.sms),
                    ratio(static_cast<double>(device.dram.bytes), static_cast<double>(facts.memory_bytes)));
}

}  // namespace

std::string remark_on(const Lender& base, const gpu::BoardFacts& facts) {
  const device::Device& d = base.device.device;
  const std::string wanted = fmt::format("{}.{}", facts.cc_major, facts.cc_minor),
                    has = fmt::format("{} has {}.{}", base.name, d.cc_major, d.cc_minor);
  switch (nearness(d, facts)) {
    case same_product:
    case same_capability: return {};
    case same_generation:
      return fmt::format("no shipped device has compute capability {}; {}, the nearest of {}.x", wanted, has,
                         facts.cc_major);
    case other_generation:
      return fmt::format("no shipped device is of the generation of compute capability {}; {}, the nearest",
                         wanted, has);
  }
  return {};
}

std::vector<Lender> nearest_devices(const gpu::BoardFacts& facts) {
  std::vector<Lender> out;
  for (const std::string& name : device::list_devices()) {
    try {
      out.push_back({name, device::load_device(name)});
    } catch (const Error&) {  // a file that somebody put there: run says what is wrong with it
    }
  }
  if (out.empty())
    throw Error(ExitCode::bad_input, "probe-base",
                "no device of the catalogue can lend what was not measured",
                "--base FILE names one, --base none leaves it out; simtlab doctor looks at the data files");
  std::ranges::stable_sort(out, [&](const Lender& a, const Lender& b) {
    return distance(a.device.device, facts) < distance(b.device.device, facts);
  });
  return out;
}

}  // namespace simtlab::probe
