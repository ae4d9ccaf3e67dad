// Which channel an access goes to, and its address there.
#pragma once

#include <cstdint>

#include "memory/dram/address_mapping.h"
#include "memory/dram/channels.h"

namespace simtlab::memory::traffic {

// With a mapping by it. Without one (a plug-in maps addresses itself) lines go round the channels.
class Router {
 public:
  // mapping: null, or it outlives the router. line: bytes; only without a mapping.
  Router(const memory::dram::AddressMapping* mapping, const memory::dram::Channels& channels,
         std::uint64_t line)
      : mapping_(mapping),
        channels_(channels.count()),
        line_(line),
        capacity_(mapping != nullptr ? mapping->capacity() : channels.channel_bytes() * channels.count()) {}

  memory::dram::ChannelAddress operator()(std::uint64_t address) const {
    if (mapping_ != nullptr) return mapping_->split(address);
    if (channels_ == 1) return {0, address};
    const std::uint64_t line = address / line_;
    return {static_cast<std::uint32_t>(line % channels_), line / channels_ * line_ + address % line_};
  }

  std::uint64_t capacity() const { return capacity_; }  // 0: unknown
  const memory::dram::AddressMapping* mapping() const { return mapping_; }

 private:
  const memory::dram::AddressMapping* mapping_;
  std::uint64_t channels_, line_, capacity_;
};

}  // namespace simtlab::memory::traffic
