#include "timing/load_table.h"

namespace simtlab::timing {

std::uint32_t LoadTable::add(std::uint32_t number, const InstInfo& info) {
  Warp& warp = warps_[number];
  const std::uint32_t index =
      loads_.add({&info, warp.program, 0, 1, static_cast<std::uint16_t>(number), warp.async.open_group()});
  ++warp.loads;
  warp.answers += info.returns ? 1 : 0;
  if (info.op_class == ptx::OpClass::async_copy) warp.async.issue();
  return index;
}

void LoadTable::complete(std::uint32_t index, Cycle at) {
  const Load load = loads_[index];
  loads_.remove(index);
  if (as_written_ != nullptr) as_written_->ends(index);
  if (sm_.observer != nullptr) sm_.observer->load_ends(index, at);
  Warp& warp = warps_[load.warp];
  --warp.loads;
  warp.answers -= load.info->returns ? 1 : 0;
  if (load.info->op_class == ptx::OpClass::async_copy) {
    warp.async.complete(load.async_group);
    for (; warp.async.may_arrive(); warp.async.has_arrived()) warp.block->copies_done(warp.in_block);
  }
  waiter_.load_done(load, at);
}

}  // namespace simtlab::timing
