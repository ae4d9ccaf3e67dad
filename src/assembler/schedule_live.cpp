#include "assembler/schedule_live.h"

#include <deque>
#include <unordered_map>

namespace simtlab::assembler {

LiveRegisters::LiveRegisters(const Program& program) {
  const std::size_t words = program.registers.size() / 64 + 1;
  const auto count = static_cast<std::uint32_t>(program.blocks.size());
  in_.assign(count, Bits(words));
  out_.assign(count, Bits(words));
  std::vector<Bits> written(count, Bits(words));  // whole registers, before any part is read
  std::vector<std::vector<std::uint32_t>> predecessors(count);
  const auto set = [](Bits& bits, std::uint32_t i) { bits[i / 64] |= std::uint64_t{1} << (i % 64); };
  for (std::uint32_t b = 0; b < count; ++b) {
    for (const std::uint32_t s : successors(program, b)) predecessors[s].push_back(b);
    std::unordered_map<std::uint32_t, unsigned> parts;  // that have been written, by register
    for (const Instruction& i : program.blocks[b].code) {
      const auto parts_in = [](const Ref& ref) { return ((1u << ref.count) - 1) << ref.part; };
      for_each_ref(i, [&](Ref ref, bool writes) {
        const unsigned mask = parts_in(ref);
        if ((!writes || i.guarded()) && (parts[ref.reg] & mask) != mask) set(in_[b], ref.reg);
      });
      for_each_ref(i, [&](Ref ref, bool writes) {
        if (!writes || i.guarded()) return;
        unsigned& known = parts[ref.reg];
        known |= parts_in(ref);
        if (known == (1u << program.registers[ref.reg].width) - 1) set(written[b], ref.reg);
      });
    }
  }
  std::deque<std::uint32_t> work;
  std::vector<char> waiting(count, 1);
  for (std::uint32_t b = count; b-- > 0;) work.push_back(b);
  while (!work.empty()) {
    const std::uint32_t b = work.front();
    work.pop_front();
    waiting[b] = 0;
    for (const std::uint32_t s : successors(program, b))
      for (std::size_t w = 0; w < words; ++w) out_[b][w] |= in_[s][w];
    bool changed = false;
    for (std::size_t w = 0; w < words; ++w) {
      const std::uint64_t more = in_[b][w] | (out_[b][w] & ~written[b][w]);
      changed = changed || more != in_[b][w];
      in_[b][w] = more;
    }
    if (!changed) continue;
    for (const std::uint32_t p : predecessors[b])
      if (waiting[p] == 0) {
        waiting[p] = 1;
        work.push_back(p);
      }
  }
}

}  // namespace simtlab::assembler
