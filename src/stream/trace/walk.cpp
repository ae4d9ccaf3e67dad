#include "stream/trace/walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace simtlab::stream::trace {

WarpWalk::WarpWalk(const ReplayedLaunch& launch, const BlockEntry& block, unsigned warp)
    : launch_(launch), block_(block), warp_(warp) {
  decoder_.begin();
  guarded([&] {
    feed();
    advance();
    if (decoder_.exited()) throw Malformed("a warp has no instructions");
  });
}

template <class F>
void WarpWalk::guarded(F&& f) {
  try {
    f();
  } catch (const Malformed& e) {
    launch_.reader().damaged(block_.segments[std::min(part_, block_.segments.size() - 1)],
                             fmt::format("kernel '{}', block {}, warp {}: {}", launch_.function().name,
                                         block_.number, warp_, e.what()));
  }
}

void WarpWalk::feed() {
  if (part_ >= block_.segments.size()) throw Malformed("a warp does not end");
  segment_ = launch_.segment(block_, part_);
  decoder_.feed(segment_->warps[warp_].control, segment_->warps[warp_].data);
}

void WarpWalk::advance() {
  while (decoder_.hungry()) {
    ++part_;
    feed();
  }
  decoder_.advance(launch_);
}

const Step& WarpWalk::step() {
  guarded([&] {
    decoder_.step(step_, addresses_.data(), addresses2_.data());
    advance();
  });
  return step_;
}

std::string name_of(const Code& code, std::uint32_t pc) {
  if (!code.mnemonics.empty()) return code.mnemonics[pc];
  const ptx::Inst& inst = code.function().code[pc];
  std::string text{ptx::name_of(inst.op)};
  if (inst.mods.space != ptx::Space::generic && has_addresses(inst))
    text += fmt::format(".{}", ptx::name_of(inst.mods.space));
  if (inst.mods.vector > 1) text += fmt::format(".v{}", inst.mods.vector);
  if (inst.type != ptx::Type::none) text += fmt::format(".{}", ptx::name_of(inst.type));
  return text;
}

}  // namespace simtlab::stream::trace
