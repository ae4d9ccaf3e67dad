#include "assembler/schedule_live.h"

#include <algorithm>

#include "assembler/liveness.h"

namespace simtlab::assembler {

LiveRegisters::LiveRegisters(const Program& program) {
  in_.resize(program.blocks.size());
  out_.resize(program.blocks.size());
  const Liveness liveness = liveness_of(program);
  for (std::uint32_t r = 0; r < program.registers.size(); ++r)
    for (std::uint32_t unit = liveness.first_unit[r]; unit < liveness.first_unit[r + 1]; ++unit)
      for (const Segment& s : liveness.lives[unit]) add(r, s, liveness.first_gap);
}

// A segment does not stop between blocks that follow in the code.
void LiveRegisters::add(std::uint32_t reg, const Segment& s, const std::vector<std::uint32_t>& first_gap) {
  auto b = static_cast<std::size_t>(std::ranges::upper_bound(first_gap, s.from) - first_gap.begin()) - 1;
  for (; b + 1 < first_gap.size() && first_gap[b] < s.to; ++b) {
    if (s.from <= first_gap[b] && (in_[b].empty() || in_[b].back() != reg)) in_[b].push_back(reg);
    if (s.to >= first_gap[b + 1] && (out_[b].empty() || out_[b].back() != reg)) out_[b].push_back(reg);
  }
}

std::vector<unsigned> registers_in_use(const Program& program, const LiveRegisters& live) {
  const auto width_of = [&](std::uint32_t reg) {
    return program.registers[reg].file == File::general ? program.registers[reg].width : 0u;
  };
  std::vector<unsigned> out(program.blocks.size(), 0);
  std::vector<std::uint32_t> alive_in(program.registers.size(), none);
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    unsigned now = 0;
    live.for_each_out(b, [&](std::uint32_t reg) {
      alive_in[reg] = b;
      now += width_of(reg);
    });
    out[b] = now;
    const std::vector<Instruction>& code = program.blocks[b].code;
    for (std::size_t k = code.size(); k-- > 0;) {
      for_each_ref(code[k], [&](const Ref& r, bool writes) {
        const bool ends = writes && !code[k].guarded() && r.count == program.registers[r.reg].width;
        if (!ends || alive_in[r.reg] != b) return;
        alive_in[r.reg] = none;
        now -= width_of(r.reg);
      });
      for_each_ref(code[k], [&](const Ref& r, bool writes) {
        if (writes || alive_in[r.reg] == b) return;
        alive_in[r.reg] = b;
        now += width_of(r.reg);
      });
      out[b] = std::max(out[b], now);
    }
  }
  return out;
}

}  // namespace simtlab::assembler
