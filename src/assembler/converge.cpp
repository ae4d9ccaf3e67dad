// A branch that some lanes take and others do not has a place where all of them meet: BSSY says before which
// lanes are to meet, BSYNC waits for them.
//
// The two enclose a region: every way to the BSYNC leads through the BSSY, every way from the BSSY to the
// BSYNC (or to an EXIT, which the hardware knows), and no loop contains one of them alone. A branch that does
// not make such a region with its nearest post-dominator belongs to a larger one. Regions nest, so the
// barrier's number is the number of regions around it; beyond sixteen the inner ones go without.
#include "assembler/converge.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "assembler/build.h"
#include "assembler/flow.h"
#include "assembler/uniform.h"

namespace simtlab::assembler {
namespace {

constexpr std::uint32_t most_barriers = 16;

// A block that does nothing but end. Who goes there can end where it is: then it needs no place to meet the
// others at.
bool only_ends(const Block& block) {
  return block.code.size() == 1 && block.code[0].code.mnemonic() == "EXIT" && !block.code[0].guarded();
}

void end_at_once(Program& program) {
  std::vector<bool> ends;
  for (const Block& b : program.blocks) ends.push_back(only_ends(b));
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    Block& block = program.blocks[b];
    if (block.code.empty() || block.code.back().target == none || !ends[block.code.back().target]) continue;
    Instruction exit = program.blocks[block.code.back().target].code[0];
    exit.guard = block.code.back().guard;
    exit.code.guard = block.code.back().code.guard;
    exit.code.guard_negated = block.code.back().code.guard_negated;
    block.code.back() = std::move(exit);
  }
}

// Before each loop a block that leads to it alone: the BSSY of its exits stands there.
void add_preheaders(Program& program) {
  const Flow flow(program);
  const auto count = static_cast<std::uint32_t>(program.blocks.size());
  std::vector<std::uint32_t> number(count), before(count, none);
  std::vector<bool> is_header(count, false);
  for (std::uint32_t b = 1; b < count; ++b) {
    const std::uint32_t loop = flow.loop_of(b);
    is_header[b] = loop != none && flow.loop(loop).header == b;
  }
  std::uint32_t next = 0;
  for (std::uint32_t b = 0; b < count; ++b) {
    if (is_header[b]) before[b] = next++;
    number[b] = next++;
  }
  std::vector<Block> blocks(next);
  const auto leads = [&](std::uint32_t from, std::uint32_t to) {
    if (to == none || !is_header[to] || flow.contains(flow.loop_of(to), from))
      return to == none ? none : number[to];
    return before[to];
  };
  for (std::uint32_t b = 0; b < count; ++b) {
    Block& block = program.blocks[b];
    block.next = leads(b, block.next);
    for (Instruction& i : block.code)
      if (i.target != none) i.target = leads(b, i.target);
    blocks[number[b]] = std::move(block);
    if (is_header[b]) blocks[before[b]].next = number[b];
  }
  program.blocks = std::move(blocks);
}

struct Region {
  std::uint32_t from = none, meet = none;
  bool operator==(const Region&) const = default;
};

class Convergence {
 public:
  explicit Convergence(Program& program) : p_(program), flow_(program) {}

  void run() {
    const Uniformity uniform = find_uniform(p_, flow_);
    std::vector<Region> regions;
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) {
      p_.blocks[b].depth = flow_.depth(b);
      if (!uniform.diverges[b] || !flow_.is_reachable(b)) continue;
      const Region region = region_of(b);
      if (region.from != none) regions.push_back(region);
    }
    // Outer ones first; of one begin the one that ends later.
    std::ranges::sort(regions, [&](const Region& a, const Region& b) {
      if (a.from != b.from) return flow_.order(a.from) < flow_.order(b.from);
      return a.meet != b.meet && flow_.post_dominates(a.meet, b.meet);
    });
    regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
    std::vector<Region> around;
    for (const Region& r : regions) {
      while (!around.empty() && !contains(around.back(), r)) around.pop_back();
      if (around.size() >= most_barriers) continue;
      begins_.push_back({r, static_cast<std::uint32_t>(around.size())});
      around.push_back(r);
    }
    for (const auto& [region, barrier] : begins_) insert_begin(region, barrier);
    // Each is put before those that are there: the inner ones last.
    for (const auto& [region, barrier] : begins_) insert_end(region, barrier);
    p_.barriers = most_barriers;
  }

 private:
  // none: lanes that go apart there do not meet again.
  Region region_of(std::uint32_t branch) const {
    Region r{branch, flow_.post_dominator(branch)};
    for (;;) {
      while (r.from != none && r.meet != none && !flow_.post_dominates(r.meet, r.from))
        r.meet = flow_.post_dominator(r.meet);
      if (r.from == none || r.meet == none) return {};
      if (const std::uint32_t left = flow_.outermost_without(r.from, r.meet); left != none) {
        const std::uint32_t header = flow_.loop(left).header;
        r.from = flow_.dominator(header == none ? r.from : header);
      } else if (flow_.outermost_without(r.meet, r.from) != none) {
        r.meet = flow_.post_dominator(r.meet);
      } else if (!flow_.dominates(r.from, r.meet)) {
        r.from = flow_.dominator(r.from);
      } else {
        return r;
      }
    }
  }

  bool contains(const Region& outer, const Region& inner) const {
    return flow_.dominates(outer.from, inner.from) && !flow_.dominates(outer.meet, inner.from);
  }

  Instruction made(std::string_view name, std::uint32_t block, std::uint32_t barrier) {
    Builder out(p_, p_.generation);
    out.start(block);
    Instruction i = out.emit(name, {}, {});
    std::vector<Instruction>& code = p_.blocks[block].code;
    code.pop_back();
    i.barrier = barrier;
    i.code.operands[static_cast<std::size_t>(i.code.form->operand("Bn"))].number =
        static_cast<std::uint8_t>(barrier);
    if (!code.empty()) {
      const Instruction& like = name == "BSSY" ? code.back() : code.front();
      i.line = like.line, i.file = like.file, i.source_line = like.source_line;
    }
    return i;
  }

  void insert_begin(const Region& region, std::uint32_t barrier) {
    Instruction i = made("BSSY", region.from, barrier);
    i.target = region.meet;
    std::vector<Instruction>& code = p_.blocks[region.from].code;
    const bool branches = !code.empty() && code.back().target != none && code.back().barrier == none;
    code.insert(code.end() - (branches ? 1 : 0), std::move(i));
  }

  void insert_end(const Region& region, std::uint32_t barrier) {
    Instruction i = made("BSYNC", region.meet, barrier);
    std::vector<Instruction>& code = p_.blocks[region.meet].code;
    code.insert(code.begin(), std::move(i));
  }

  Program& p_;
  Flow flow_;
  std::vector<std::pair<Region, std::uint32_t>> begins_;
};

}  // namespace

void converge(Program& program) {
  end_at_once(program);
  add_preheaders(program);
  Convergence(program).run();
}

}  // namespace simtlab::assembler
