// The commands of a memory, channel by channel, before the checker of their rules.
#pragma once

#include <map>

#include "device/technology.h"
#include "memory/dram/checker.h"

namespace simtlab::studies {

class CheckedCommands : public memory::dram::CommandSink {
 public:
  explicit CheckedCommands(const device::Technology& technology) : technology_(technology) {}

  // Both throw Error(check_failed, "dram-rule") when a rule is broken.
  void command(const memory::dram::CommandRecord& record) override;
  void finish(memory::Cycle end);
  std::uint64_t commands() const;

 private:
  static void require(const memory::dram::CommandChecker& checker);

  const device::Technology technology_;
  std::map<std::uint32_t, memory::dram::CommandChecker> channels_;
};

}  // namespace simtlab::studies
