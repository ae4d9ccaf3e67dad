// The memory that `simtlab dram` drives, from its options.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/technology.h"
#include "memory/dram/own_channels.h"
#include "memory/dram/plugin.h"
#include "result/metrics.h"

namespace simtlab::studies {

struct MemoryOptions {
  std::string dram;
  std::optional<std::string> controller;
  std::optional<std::uint32_t> channels;
  std::vector<std::string> set;  // key=value, of the technology or of the controller
};

struct DrivenMemory {
  std::string name;
  std::unique_ptr<memory::dram::Channels> channels;
  memory::dram::OwnChannels* system = nullptr;  // one of the two
  memory::dram::PluginChannels* plugin = nullptr;
  double peak = 0;  // bytes/s of all channels; 0: unknown
  std::vector<result::ConfigValue> configuration;
  std::vector<std::filesystem::path> files;  // that were read
};

// Throws Error.
DrivenMemory make_memory(const MemoryOptions& options);

}  // namespace simtlab::studies
