// What each static instruction asked of global memory, always counted: run names the line whose accesses
// waste most, without --lines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/module.h"
#include "result/table.h"
#include "timing/program.h"
#include "timing/statistics.h"

namespace simtlab::timing {

class AccessTable {
 public:
  SpaceCounters& at(const Program& program, const InstInfo& info) {
    if (&program != last_program_) [[unlikely]]
      find(program);
    return last_->counters[info.access];
  }
  void add(const AccessTable& other);

  // Rows of the table "coalescing": source lines whose threads use little of the sectors that they touch,
  // most wasted sectors first.
  result::Table wasteful(const ptx::Module& module) const;

 private:
  struct Entry {
    const Program* program;
    std::vector<SpaceCounters> counters;  // by InstInfo::access
  };
  void find(const Program& program);

  std::vector<std::unique_ptr<Entry>> entries_;
  const Program* last_program_ = nullptr;
  Entry* last_ = nullptr;
};

}  // namespace simtlab::timing
