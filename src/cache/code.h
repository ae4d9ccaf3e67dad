// What a study needs to know of each static instruction, resolved once a launch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "cache/counts.h"
#include "device/device.h"
#include "ptx/module.h"

namespace simtlab::cache {

enum class Access : std::uint8_t { none, load, store, atomic };

struct StaticInst {
  std::uint32_t rows = 0;  // first in Code::rows: destinations, then sources
  std::uint16_t row_count = 0;
  std::uint8_t dst_count = 0;
  Access access = Access::none;
  bool cached = false;          // global loads: whether they look into L1
  bool changes_status = false;  // barriers, branches, exits
  bool ends_block = false;      // of instructions without jumps: what is loaded in it is waited for here
  bool asks = false;            // a strong load of shared memory: a loop may wait there for another warp
  bool orders = false;          // barriers and fences: accesses do not pass them
};

// How the lanes' addresses of an instruction lie, as far as a look now and then tells: the same distance in
// three quarters of the pairs of lanes.
struct Stride {
  std::int64_t bytes = 0;               // between neighbouring lanes
  std::uint64_t looks = 0, others = 0;  // warps that were looked at; those with other distances
};

// Instructions of one function, with their counters.
class Code {
 public:
  Code(const ptx::Function& function, const device::Device& device);
  const ptx::Function& function() const { return *function_; }
  const StaticInst& operator[](std::uint32_t pc) const { return code_[pc]; }
  std::span<const std::uint16_t> rows(const StaticInst& inst) const {
    return {&rows_[inst.rows], inst.row_count};
  }

  std::vector<AccessCounts> counts;  // by program counter
  std::vector<Stride> strides;
  std::vector<std::uint32_t> buffers;  // what the instruction accessed first; none_yet: nothing
  static constexpr std::uint32_t none_yet = ~std::uint32_t{0} - 1;

 private:
  void add_rows(const ptx::Operand& operand);

  const ptx::Function* function_;
  std::vector<StaticInst> code_;
  std::vector<std::uint16_t> rows_;
};

// Those of the functions that a launch reaches, built when first met.
class Codes {
 public:
  explicit Codes(const device::Device& device) : device_(device) {}
  Code& of(const ptx::Function& function) {
    if (last_ != nullptr && &last_->function() == &function) return *last_;
    std::unique_ptr<Code>& code = codes_[&function];
    if (code == nullptr) code = std::make_unique<Code>(function, device_);
    return *(last_ = code.get());
  }
  const Code* find(const ptx::Function& function) const {  // null: not met
    const auto found = codes_.find(&function);
    return found == codes_.end() ? nullptr : found->second.get();
  }
  // In the order of the text.
  std::vector<const Code*> all() const;

 private:
  const device::Device& device_;
  std::map<const ptx::Function*, std::unique_ptr<Code>> codes_;
  Code* last_ = nullptr;
};

}  // namespace simtlab::cache
