// Writes down the commands of a channel for a trace, a checker or a timeline; nothing while nobody listens.
#pragma once

#include "memory/dram/command.h"
#include "memory/dram/timing_state.h"

namespace simtlab::memory::dram {

class CommandRecorder {
 public:
  CommandRecorder(std::uint32_t channel, const Shape& shape) : channel_(channel), shape_(shape) {}

  void record_to(CommandSink* sink) { sink_ = sink; }  // nullptr: none
  bool records() const { return sink_ != nullptr; }
  void sent(Command command, BankIndex bank, Cycle at, std::uint32_t row = 0, std::uint32_t column = 0) {
    if (sink_ != nullptr) write(command, bank, at, row, column);
  }

 private:
  void write(Command command, BankIndex bank, Cycle at, std::uint32_t row, std::uint32_t column) const;

  const std::uint32_t channel_;
  const Shape shape_;
  CommandSink* sink_ = nullptr;
};

}  // namespace simtlab::memory::dram
