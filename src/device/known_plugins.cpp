#include "device/known_plugins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace simtlab::device {
namespace {

constexpr auto all = std::to_array<KnownPlugin>({
    {"dramsim3", "DRAMsim3", "https://github.com/umd-memsys/DRAMsim3", "2981759", "make libdramsim3.so",
     "SIMTLAB_WITH_DRAMSIM3", "configs/DDR4_8Gb_x8_2400.ini"},
    {"dramsim2", "DRAMSim2", "https://github.com/umd-memsys/DRAMSim2", "753819a", "make libdramsim.so",
     "SIMTLAB_WITH_DRAMSIM2", "ini/DDR3_micron_32M_8B_x4_sg125.ini,system=system.ini.example,megabytes=1024"},
    {"ramulator1", "Ramulator 1", "https://github.com/CMU-SAFARI/ramulator", "214f635",
     "g++ -O3 -std=c++14 -fPIC -shared -w -include cstdint -DRAMULATOR -o libramulator.so "
     "$(ls src/*.cpp | grep -v -e Main -e Gem5Wrapper)",
     "SIMTLAB_WITH_RAMULATOR1", "configs/PCM-config.cfg"},
    {"ramulator2", "Ramulator 2.1", "https://github.com/CMU-SAFARI/ramulator2", "c5b1c3a",
     "cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build", "SIMTLAB_WITH_RAMULATOR2",
     "exported.yaml"},
});

// "DRAMSim3", "dramsim-3" and "dramsim3.so" are one name.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (out.ends_with("so")) out.resize(out.size() - 2);
  return out;
}

}  // namespace

std::span<const KnownPlugin> known_plugins() { return all; }

std::string how_to_get(const KnownPlugin& p) {
  return fmt::format(
      "git clone {} FOLDER && cd FOLDER && git checkout {} && {}; then in simtlab's source: cmake "
      "--preset release -D{}=FOLDER && cmake --build --preset release --target adapter_{}",
      p.address, p.commit, p.build, p.variable, p.name);
}

std::string how_to_name(const KnownPlugin& p, std::string_view file) {
  return fmt::format("--dram \"plugin:{}?config={}\"", file, p.config);
}

std::string plugin_hint(std::string_view name) {
  const std::string asked = plain(name);
  const auto found = std::ranges::find_if(all, [&](const KnownPlugin& p) {
    return plain(p.name) == asked || plain(p.simulator) == asked ||
           (asked == "ramulator" && p.name == "ramulator1");
  });
  if (found == all.end()) return {};
  return fmt::format(
      "{} is a simulator of its own and joins as a plug-in: {} (`simtlab list plugins` says how to "
      "get it)",
      found->simulator, how_to_name(*found, fmt::format("FOLDER/{}.so", found->name)));
}

}  // namespace simtlab::device
