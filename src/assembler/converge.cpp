// A branch that some lanes take and others do not has a place where all of them meet: BSSY says before which
// lanes are to meet, BSYNC waits for them.
//
// The two enclose a region: every way to the BSYNC leads through the BSSY, every way from the BSSY to the
// BSYNC (or to an EXIT, which the hardware knows), and no loop contains one of them alone. A branch that does
// not make such a region with its nearest post-dominator belongs to a larger one. Regions nest, so the
// barrier's number is the number of regions around it; beyond sixteen the inner ones go without.
#include "assembler/converge.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "assembler/build.h"
#include "assembler/flow.h"
#include "assembler/uniform.h"

namespace simtlab::assembler {
namespace {

constexpr std::uint32_t most_barriers = 16;

void end_at_once(Program& program) {
  std::vector<bool> ends;
  for (const Block& b : program.blocks) ends.push_back(only_exits(b));
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

// Before each loop a block that leads to it alone: the BSSY of its exits stands there. Behind its blocks,
// where several lead back to its begin, one that they all lead to: there lanes meet before the next round.
class LoopBlocks {
 public:
  explicit LoopBlocks(Program& program)
      : p_(program), flow_(program), count_(static_cast<std::uint32_t>(program.blocks.size())) {}

  void add() {
    find();
    number();
    std::vector<Block> blocks(next_);
    for (std::uint32_t b = 0; b < count_; ++b) {
      Block& block = p_.blocks[b];
      block.next = leads(b, block.next);
      for (Instruction& i : block.code)
        if (i.target != none) i.target = leads(b, i.target);
      blocks[number_[b]] = std::move(block);
      if (before_[b] != none) blocks[before_[b]].next = number_[b];
      if (behind_[b] != none) blocks[behind_[b]].next = number_[b];
    }
    p_.blocks = std::move(blocks);
  }

 private:
  bool is_back(std::uint32_t from, std::uint32_t header) const {
    return flow_.contains(flow_.loop_of(header), from);
  }

  void find() {
    is_header_.assign(count_, false);
    last_back_.assign(count_, none);
    for (std::uint32_t b = 1; b < count_; ++b) {
      const std::uint32_t loop = flow_.loop_of(b);
      is_header_[b] = loop != none && flow_.loop(loop).header == b;
      if (!is_header_[b]) continue;
      unsigned ways = 0;
      std::uint32_t last = 0;
      for (const std::uint32_t p : flow_.before(b))
        if (is_back(p, b)) {
          ++ways;
          last = std::max(last, p);
        }
      if (ways > 1) last_back_[b] = last;
    }
  }

  void number() {
    number_.resize(count_);
    before_.assign(count_, none);
    behind_.assign(count_, none);
    std::vector<std::vector<std::uint32_t>> ended(count_);
    for (std::uint32_t b = 0; b < count_; ++b)
      if (last_back_[b] != none) ended[last_back_[b]].push_back(b);
    for (std::uint32_t b = 0; b < count_; ++b) {
      if (is_header_[b]) before_[b] = next_++;
      number_[b] = next_++;
      for (const std::uint32_t header : ended[b]) behind_[header] = next_++;
    }
  }

  std::uint32_t leads(std::uint32_t from, std::uint32_t to) const {
    if (to == none) return none;
    if (!is_header_[to]) return number_[to];
    if (!is_back(from, to)) return before_[to];
    return behind_[to] != none ? behind_[to] : number_[to];
  }

  Program& p_;
  Flow flow_;
  std::uint32_t count_, next_ = 0;
  std::vector<bool> is_header_;
  // By header: the last block that leads back; new numbers of blocks, and of those before and behind
  std::vector<std::uint32_t> last_back_, number_, before_, behind_;
};

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
    find_apart(uniform);
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
      } else if (r.from == r.meet || !flow_.dominates(r.from, r.meet)) {
        r.from = flow_.dominator(r.from);
      } else {
        return r;
      }
    }
  }

  // Where the lanes that go apart at a branch have met again: behind the innermost region around it. none:
  // nowhere.
  std::uint32_t meeting_of(std::uint32_t branch) const {
    const Region own = region_of(branch);
    const Region* inner = nullptr;
    for (const auto& [region, barrier] : begins_) {
      if (region == own) return region.meet;
      const bool around = contains(region, {branch, none});
      if (around && (inner == nullptr || contains(*inner, region))) inner = &region;
    }
    return inner == nullptr ? none : inner->meet;
  }

  void find_apart(const Uniformity& uniform) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> branches;  // by where they meet
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) {
      p_.blocks[b].apart = !flow_.is_reachable(b);
      if (uniform.diverges[b] && flow_.is_reachable(b)) branches[meeting_of(b)].push_back(b);
    }
    std::vector<std::uint32_t> seen(p_.blocks.size(), none - 1);
    for (const auto& [meet, from] : branches) {
      std::vector<std::uint32_t> left;
      for (const std::uint32_t b : from)
        for (const std::uint32_t to : flow_.after(b)) left.push_back(to);
      while (!left.empty()) {
        const std::uint32_t b = left.back();
        left.pop_back();
        if (b == meet || seen[b] == meet) continue;
        seen[b] = meet;
        p_.blocks[b].apart = true;
        for (const std::uint32_t to : flow_.after(b)) left.push_back(to);
      }
    }
  }

  bool contains(const Region& outer, const Region& inner) const {
    return flow_.dominates(outer.from, inner.from) && !flow_.dominates(outer.meet, inner.from);
  }

  Instruction made(std::string_view name, std::uint32_t block, std::uint32_t barrier) {
    Builder out(p_, p_.generation);
    out.start(block);
    const bool bundled = machine::in_bundles(p_.generation);
    Instruction i = out.emit(!bundled ? name : name == "BSSY" ? "SSY" : "SYNC", {}, {});
    std::vector<Instruction>& code = p_.blocks[block].code;
    code.pop_back();
    i.barrier = barrier;
    if (!bundled)
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

bool only_exits(const Block& block) {
  return block.code.size() == 1 && block.code[0].code.mnemonic() == "EXIT" && !block.code[0].guarded();
}

void converge(Program& program) {
  end_at_once(program);
  LoopBlocks(program).add();
  Convergence(program).run();
}

}  // namespace simtlab::assembler
