// Which memory a device has in a run: its own as latency and bandwidth, a technology in detail, or a plug-in.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "device/assembly.h"
#include "device/device.h"
#include "device/technology.h"

namespace simtlab::device {

enum class MemoryKind : std::uint8_t { simple, technology, plugin };

struct MemoryChoice {
  MemoryKind kind = MemoryKind::simple;
  std::string technology;       // name or file
  std::string library, config;  // of a plug-in
};

// The meaning of a value of dram.model. Throws Error(bad_input "config-value") for a malformed plug-in.
MemoryChoice memory_choice(std::string_view model);

// The value of dram.model with paths relative to `folder` made independent of the folder.
std::string memory_model_in(const std::string& model, const std::filesystem::path& folder);

// SM cycles of dram.latency that are none of a miss to memory beside the near part of L2: half the way to a
// far part (a chase finds half of its lines there) and, where translations are modelled, one that misses.
double far_and_translation(const Device& device);

// Clocks of the technology from a read of so many bytes of a closed bank to their last data, in the mean of
// reads that come alone: some wait for a refresh.
double idle_read_clocks(const Technology& technology, std::uint32_t bytes);

// Peak of one channel with all of its pseudo-channels.
double channel_bandwidth(const Technology& technology);

// Makes dram.partitions, bandwidth, latency and so on follow from dram.model. Settings that it makes
// meaningless are errors. Afterwards dram.technology names what is simulated. Returns the values of
// technology and controller ("technology.timing.CL", "controller.page.policy"), for the record.
std::vector<Entry> apply_main_memory(Assembly& assembly, Device& device, const std::string& file);

}  // namespace simtlab::device
