// Traffic made to a pattern instead of read from a file. Equal options give equal traffic.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "memory/dram/address_mapping.h"
#include "memory/traffic/source.h"

namespace simtlab::memory::traffic {

struct GeneratorOptions {
  std::uint64_t requests = 100000;
  double read_share = 1;        // of the requests, drawn at random; copy: half of them by its nature
  std::uint64_t line = 64;      // bytes of a request
  std::uint64_t stride = 4096;  // bytes between two requests; stride only
  std::uint64_t footprint = 0;  // bytes that are touched, from address 0; 0: `capacity`
  std::uint64_t seed = 0;
  std::uint64_t interval = 0;  // clocks between two requests; 0: as fast as they are taken
  std::uint64_t capacity = 0;  // of the memory
  const memory::dram::AddressMapping* mapping = nullptr;  // conflict only; outlives the source
};

struct Generator {
  std::string_view name, what;
  std::unique_ptr<Source> (*make)(const GeneratorOptions& options);
};

const std::vector<Generator>& generators();

// Throws Error(usage, "generate-unknown") with the nearest name, "generate-option" for options that make no
// traffic.
std::unique_ptr<Source> generate(std::string_view name, const GeneratorOptions& options);

}  // namespace simtlab::memory::traffic
