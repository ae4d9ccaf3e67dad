#include "assembler/control_distance.h"

#include <algorithm>
#include <deque>

namespace simtlab::assembler {

Distances::Distances(const Program& program, const std::vector<BlockEffects>& effects) {
  for (std::size_t b = 0; b < program.blocks.size(); ++b) estimate(program.blocks[b], effects[b]);
  spread(program, effects);
  uses_.resize(program.blocks.size());
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) find_uses(program, b, effects[b]);
}

// Issue times if each result comes as expected and nothing waits for anything else.
void Distances::estimate(const Block& block, const BlockEffects& effects) {
  std::array<std::uint32_t, place_count> ready{};
  std::vector<std::uint32_t>& issue = issue_.emplace_back();
  issue.reserve(block.code.size() + 1);
  std::uint32_t now = 0;
  for (std::size_t n = 0; n < block.code.size(); ++n) {
    for (const Effects::Read& read : effects[n].reads()) now = std::max(now, ready[read.place]);
    issue.push_back(now);
    const machine::Instruction& code = block.code[n].code;
    for (const Effects::Write& write : effects[n].writes())
      ready[write.place] =
          now + (effects[n].late ? expected_latency(code)
                                 : latency_of(code.generation, write, machine::reader_of(code)));
    now += least_stall(code);
  }
  issue.push_back(now);
}

Distances::Touches Distances::first_in(std::uint32_t block, const BlockEffects& effects) const {
  Touches out;
  out.any.fill(not_at_all);
  out.write.fill(not_at_all);
  for (std::size_t n = effects.size(); n-- > 0;) {
    const auto at = static_cast<std::uint16_t>(std::min<std::uint32_t>(issue_[block][n], far_away));
    for (const Effects::Read& read : effects[n].reads()) out.any[read.place] = at;
    for (const Effects::Write& write : effects[n].writes())
      out.any[write.place] = out.write[write.place] = at;
  }
  return out;
}

// The nearest touches of what may follow a block.
Distances::Touches Distances::behind(const Program& program, std::uint32_t block) const {
  Touches out;
  out.any.fill(not_at_all);
  out.write.fill(not_at_all);
  for (const std::uint32_t s : ways_out(program, block))
    for (std::size_t p = 0; p < place_count; ++p) {
      out.any[p] = std::min(out.any[p], entry_[s].any[p]);
      out.write[p] = std::min(out.write[p], entry_[s].write[p]);
    }
  return out;
}

void Distances::spread(const Program& program, const std::vector<BlockEffects>& effects) {
  const auto count = static_cast<std::uint32_t>(program.blocks.size());
  std::vector<std::vector<std::uint32_t>> predecessors(count);
  std::vector<Touches> own(count);
  for (std::uint32_t b = 0; b < count; ++b) {
    own[b] = first_in(b, effects[b]);
    for (const std::uint32_t s : ways_out(program, b)) predecessors[s].push_back(b);
  }
  entry_ = own;
  std::deque<std::uint32_t> work;
  std::vector<char> waiting(count, 1);
  for (std::uint32_t b = count; b-- > 0;) work.push_back(b);
  while (!work.empty()) {
    const std::uint32_t b = work.front();
    work.pop_front();
    waiting[b] = 0;
    Touches entry = own[b];
    const Touches exit = behind(program, b);
    const auto through = [&](std::uint16_t& mine, std::uint16_t later) {
      if (mine == not_at_all && later != not_at_all)
        mine = static_cast<std::uint16_t>(std::min<std::uint32_t>(later + end(b), far_away));
    };
    for (std::size_t p = 0; p < place_count; ++p) {
      through(entry.any[p], exit.any[p]);
      through(entry.write[p], exit.write[p]);
    }
    if (entry == entry_[b]) continue;
    entry_[b] = entry;
    for (const std::uint32_t p : predecessors[b])
      if (waiting[p] == 0) {
        waiting[p] = 1;
        work.push_back(p);
      }
  }
}

void Distances::find_uses(const Program& program, std::uint32_t block, const BlockEffects& effects) {
  std::vector<LateUse>& uses = uses_[block];
  uses.resize(effects.size());
  const Touches exit = behind(program, block);
  std::array<std::uint32_t, place_count> any{}, write{};
  for (std::size_t p = 0; p < place_count; ++p) {
    any[p] = exit.any[p] == not_at_all ? no_occurrence : exit.any[p] + end(block);
    write[p] = exit.write[p] == not_at_all ? no_occurrence : exit.write[p] + end(block);
  }
  for (std::size_t n = effects.size(); n-- > 0;) {
    const Effects& e = effects[n];
    if (e.late) {
      for (const Effects::Write& w : e.writes()) uses[n].result = std::min(uses[n].result, any[w.place]);
      for (const Effects::Read& r : e.reads()) {
        const auto is_own = [&](const Effects::Write& w) { return w.place == r.place; };
        if (may_be_read_late(r.place) && std::ranges::none_of(e.writes(), is_own))
          uses[n].operand = std::min(uses[n].operand, write[r.place]);
      }
    }
    for (const Effects::Write& w : e.writes()) any[w.place] = write[w.place] = issue(block, n);
    for (const Effects::Read& r : e.reads()) any[r.place] = issue(block, n);
  }
}

}  // namespace simtlab::assembler
