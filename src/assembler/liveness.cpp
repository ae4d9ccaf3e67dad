#include "assembler/liveness.h"

#include <algorithm>
#include <span>

#include "assembler/live_scan.h"
#include "assembler/live_values.h"

namespace simtlab::assembler {
namespace {

// Values times blocks that they live in, of which each takes some 100 bytes: an SM's registers hold a few
// hundred values, so that kernels of 10,000 blocks have far fewer.
constexpr std::size_t most_live_ins = std::size_t{1} << 23;

// Lists of numbers, one after the other.
class NumberLists {
 public:
  // f(add) calls add(list, number) for each; it runs twice.
  template <class F>
  NumberLists(std::size_t lists, const F& f) : first_(lists + 1, 0) {
    f([&](std::uint32_t list, std::uint32_t) { ++first_[list + 1]; });
    for (std::size_t i = 1; i <= lists; ++i) first_[i] += first_[i - 1];
    all_.resize(first_.back());
    std::vector<std::uint32_t> at(first_.begin(), first_.end() - 1);
    f([&](std::uint32_t list, std::uint32_t number) { all_[at[list]++] = number; });
  }
  std::span<const std::uint32_t> operator[](std::uint32_t list) const {
    return std::span(all_).subspan(first_[list], first_[list + 1] - first_[list]);
  }

 private:
  std::vector<std::uint32_t> first_, all_;
};

// A unit at the begin of a block, and the node of its value there.
struct LiveIn {
  std::uint32_t unit, node;
};

class Finder {
 public:
  Finder(const Program& program, Liveness& out);
  void run();

 private:
  std::size_t blocks() const { return program_.blocks.size(); }
  template <class F>
  void each_unit(const Instruction& i, bool writes, const F& f) const;
  LiveScan::State where_taken(std::uint32_t block) const;
  void find_exposed();
  void find_ended();
  void find_guarded_ends(std::uint32_t block);
  void find_live_ins();
  void keep_defined(std::uint32_t unit, std::vector<std::uint32_t>& in,
                    std::span<const std::uint32_t> written_in);
  void number_nodes();
  void find_segments();
  void start_block(std::uint32_t block);
  void found(std::uint32_t unit, std::uint32_t node);
  LiveScan::State guard_behind(const Instruction& i) const;
  void scan_block(std::uint32_t block);
  void find_values();
  void inputs_of_block(std::uint32_t block, LiveValues& values);
  void finish();

  const Program& program_;
  Liveness& out_;
  std::uint32_t units_;
  LiveScan scan_;
  NumberLists next_, before_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> exposed_;  // unit, block that reads it first
  // Unit, block that writes it; ... always; ... on each of the two ways that the branch at its end goes
  std::vector<std::pair<std::uint32_t, std::uint32_t>> written_, ended_, ended_on_way_[2];
  std::vector<std::uint8_t> crosses_;  // unit: blocks, written once and always
  std::vector<std::uint8_t> simple_;
  std::vector<std::vector<LiveIn>> live_ins_;  // of a block
  std::vector<std::uint32_t> first_site_;      // of a block: definitions before it
  std::vector<std::uint8_t> old_lives_;        // of a definition: as does what was there
  std::vector<std::uint32_t> ends_;            // of a unit that lives, during a scan
  std::vector<std::uint32_t> node_values_;
  std::uint32_t nodes_ = 0;
};

std::uint32_t number_units(const Program& program, Liveness& out) {
  std::uint32_t units = 0;
  for (const Register& r : program.registers) {
    out.first_unit.push_back(units);
    units += r.width;
  }
  out.first_unit.push_back(units);
  return units;
}

Finder::Finder(const Program& program, Liveness& out)
    : program_(program),
      out_(out),
      units_(number_units(program, out)),
      scan_(out.first_unit, units_),
      next_(program.blocks.size(),
            [&](const auto& add) {
              for (std::uint32_t b = 0; b < program.blocks.size(); ++b)
                for (const std::uint32_t s : successors(program, b)) add(b, s);
            }),
      before_(program.blocks.size(), [&](const auto& add) {
        for (std::uint32_t b = 0; b < program.blocks.size(); ++b)
          for (const std::uint32_t s : successors(program, b)) add(s, b);
      }) {}

template <class F>
void Finder::each_unit(const Instruction& i, bool writes, const F& f) const {
  for_each_ref(i, [&](const Ref& ref, bool is_write) {
    if (is_write != writes) return;
    const std::uint32_t first = out_.unit(ref);
    for (std::uint32_t unit = first; unit < first + ref.count; ++unit) f(unit);
  });
}

// Units that a block reads before it writes them.
void Finder::find_exposed() {
  crosses_.assign(units_, 0);
  for (std::uint32_t b = 0; b < blocks(); ++b) {
    const std::vector<Instruction>& code = program_.blocks[b].code;
    scan_.clear();
    for (auto i = code.rbegin(); i != code.rend(); ++i) scan_.step(*i);
    std::vector<std::uint32_t> units = scan_.touched();
    std::ranges::sort(units);
    units.erase(std::unique(units.begin(), units.end()), units.end());
    for (const std::uint32_t unit : units)
      if (scan_.lives(unit)) {
        exposed_.emplace_back(unit, b);
        crosses_[unit] = 1;
      }
  }
  scan_.clear();
}

// The condition of the branch at the end, where a block goes one way or the other by it.
LiveScan::State Finder::where_taken(std::uint32_t block) const {
  const std::span<const std::uint32_t> next = next_[block];
  if (next.size() != 2 || next[0] == next[1]) return LiveScan::always;
  const Instruction& branch = program_.blocks[block].code.back();
  const bool plain = std::ranges::all_of(branch.refs, [](const Ref& ref) { return !ref; });
  return plain && branch.guard ? scan_.condition_of(branch) : LiveScan::always;
}

// Where units are written so that what they held before is gone.
void Finder::find_ended() {
  simple_.assign(units_, 1);
  std::vector<std::uint8_t> writes(units_, 0);
  for (std::uint32_t b = 0; b < blocks(); ++b) {
    bool any_guarded = false;
    for (const Instruction& i : program_.blocks[b].code)
      each_unit(i, true, [&](std::uint32_t unit) {
        if (writes[unit] != 0 || i.guarded()) simple_[unit] = 0;
        writes[unit] = 1;
        if (crosses_[unit] == 0) return;
        written_.emplace_back(unit, b);
        if (!i.guarded()) ended_.emplace_back(unit, b);
        any_guarded = any_guarded || i.guarded();
      });
    if (any_guarded) find_guarded_ends(b);
  }
  for (std::uint32_t unit = 0; unit < units_; ++unit)
    if (writes[unit] == 0) simple_[unit] = 0;
}

// Two guarded writes together may write a unit always; and one that has the branch's guard does so on one of
// its ways. Without that each value that only an edge makes would live through all blocks of a cycle.
void Finder::find_guarded_ends(std::uint32_t block) {
  const std::vector<Instruction>& code = program_.blocks[block].code;
  std::vector<std::uint32_t> units;
  for (std::size_t k = written_.size(); k-- > 0 && written_[k].second == block;)
    units.push_back(written_[k].first);
  const auto find = [&](LiveScan::State behind, auto& ended) {
    scan_.clear();
    for (const std::uint32_t unit : units) scan_.make_live(unit, behind);
    for (auto i = code.rbegin(); i != code.rend(); ++i) scan_.step(*i);
    for (const std::uint32_t unit : units)
      if (!scan_.lives(unit)) ended.emplace_back(unit, block);
  };
  find(LiveScan::always, ended_);
  const LiveScan::State taken = where_taken(block);
  for (std::uint32_t way = 0; taken != LiveScan::always && way < 2; ++way)
    find(taken ^ way, ended_on_way_[way]);
  scan_.clear();
}

// From blocks that read a unit back to those that write it.
void Finder::find_live_ins() {
  find_ended();
  const auto lists = [&](const auto& pairs) {
    return NumberLists(units_, [&](const auto& add) {
      for (const auto& [unit, block] : pairs) add(unit, block);
    });
  };
  const NumberLists readers = lists(exposed_), writers = lists(written_), enders = lists(ended_);
  const NumberLists enders_on_way[2] = {lists(ended_on_way_[0]), lists(ended_on_way_[1])};

  live_ins_.resize(blocks());
  std::size_t count = 0;
  // Of a block: the last unit that is at its begin; that ends there; that ends there on one way
  std::vector<std::uint32_t> seen(blocks(), none), stops(blocks(), none), in;
  std::vector<std::uint32_t> stops_way[2] = {seen, seen};
  for (std::uint32_t unit = 0; unit < units_; ++unit) {
    if (crosses_[unit] == 0) continue;
    for (const std::uint32_t b : enders[unit]) stops[b] = unit;
    for (const std::uint32_t way : {0u, 1u})
      for (const std::uint32_t b : enders_on_way[way][unit]) stops_way[way][b] = unit;
    // Whether it lives at the begin of the block because it lives at that of the next one.
    const auto goes_back = [&](std::uint32_t block, std::uint32_t next) {
      if (stops[block] == unit || seen[block] == unit) return false;
      const std::uint32_t way = next_[block][0] == next ? 0 : 1;
      if (stops_way[way][block] != unit) return true;
      // If it lives on the other way, too, it lives always.
      stops_way[0][block] = stops_way[1][block] = none;
      return false;
    };
    in.assign(readers[unit].begin(), readers[unit].end());
    for (const std::uint32_t b : in) seen[b] = unit;
    for (std::size_t k = 0; k < in.size(); ++k)
      for (const std::uint32_t p : before_[in[k]])
        if (goes_back(p, in[k])) {
          seen[p] = unit;
          in.push_back(p);
        }
    if (seen[0] == unit) keep_defined(unit, in, writers[unit]);
    if ((count += in.size()) > most_live_ins)
      throw GivenUp{"more values that live through more blocks than can be looked at"};
    for (const std::uint32_t b : in) live_ins_[b].push_back({unit, none});
  }
}

// Of the blocks at whose begin a unit lives, those that a definition reaches.
void Finder::keep_defined(std::uint32_t unit, std::vector<std::uint32_t>& in,
                          std::span<const std::uint32_t> written_in) {
  simple_[unit] = 0;
  std::ranges::sort(in);
  std::vector<std::uint8_t> reached(in.size(), 0);
  std::vector<std::uint32_t> work;
  const auto reach = [&](std::uint32_t block) {
    for (const std::uint32_t s : next_[block]) {
      const auto at = std::ranges::lower_bound(in, s);
      if (at == in.end() || *at != s || reached[static_cast<std::size_t>(at - in.begin())] != 0) continue;
      reached[static_cast<std::size_t>(at - in.begin())] = 1;
      work.push_back(s);
    }
  };
  for (const std::uint32_t b : written_in) reach(b);
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    reach(b);
  }
  std::size_t kept = 0;
  for (std::size_t k = 0; k < in.size(); ++k)
    if (reached[k] != 0) in[kept++] = in[k];
  in.resize(kept);
}

// Definitions in the order of the code, then what blocks begin with where definitions may meet.
void Finder::number_nodes() {
  std::vector<std::uint32_t> site_of(units_, none);
  std::uint32_t gap = 0;
  for (const Block& block : program_.blocks) {
    first_site_.push_back(nodes_);
    out_.first_gap.push_back(gap);
    gap += static_cast<std::uint32_t>(block.code.size()) + 1;
    for (const Instruction& i : block.code)
      each_unit(i, true, [&](std::uint32_t unit) { site_of[unit] = nodes_++; });
  }
  first_site_.push_back(nodes_);
  out_.first_gap.push_back(gap);
  old_lives_.assign(nodes_, 0);
  for (std::vector<LiveIn>& in : live_ins_)
    for (LiveIn& l : in) l.node = simple_[l.unit] != 0 ? site_of[l.unit] : nodes_++;
}

// Segments of each unit, the last one first. Their values are nodes yet.
void Finder::find_segments() {
  out_.lives.resize(units_);
  ends_.assign(units_, 0);
  for (auto b = static_cast<std::uint32_t>(blocks()); b-- > 0;) scan_block(b);
}

// What lives behind the block: all that lives at the begin of a next one, on the way to it.
void Finder::start_block(std::uint32_t block) {
  scan_.clear();
  const std::span<const std::uint32_t> next = next_[block];
  const auto start = [&](std::uint32_t successor, LiveScan::State where) {
    for (const LiveIn& in : live_ins_[successor]) {
      scan_.make_live(in.unit, scan_.lives(in.unit) ? LiveScan::always : where);
      ends_[in.unit] = out_.first_gap[block + 1];
    }
  };
  const LiveScan::State taken = where_taken(block);
  for (std::size_t k = 0; k < next.size(); ++k)
    start(next[k], taken == LiveScan::always ? taken : taken ^ static_cast<std::uint32_t>(k));
}

// Pieces of the value whose definition, or begin of the block, is found now.
void Finder::found(std::uint32_t unit, std::uint32_t node) {
  std::vector<Segment>& list = out_.lives[unit];
  for (auto s = list.rbegin(); s != list.rend() && s->value == none; ++s) s->value = node;
}

void Finder::scan_block(std::uint32_t block) {
  const std::vector<Instruction>& code = program_.blocks[block].code;
  start_block(block);
  std::uint32_t site = first_site_[block + 1];
  for (std::size_t k = code.size(); k-- > 0;) {
    const std::uint32_t behind = out_.first_gap[block] + static_cast<std::uint32_t>(k) + 1;
    const LiveScan::State guard = guard_behind(code[k]);
    each_unit(code[k], true, [&](std::uint32_t) { --site; });
    std::uint32_t node = site;
    const auto piece = [&](std::uint32_t unit, std::uint32_t from, LiveScan::State where) {
      if (from < ends_[unit])
        out_.lives[unit].push_back({from, ends_[unit], none, where == LiveScan::always ? 0 : where});
      ends_[unit] = from;
    };
    scan_.step(
        code[k],
        [&](std::uint32_t unit, LiveScan::State then, LiveScan::State now) {
          if (then == LiveScan::dead) ends_[unit] = behind + 1;
          // Where it is written, whoever reads it.
          piece(unit, behind + 1, then);
          piece(unit, behind, then == guard || then == LiveScan::dead ? guard : LiveScan::always);
          found(unit, node);
          old_lives_[node++] = now != LiveScan::dead ? 1 : 0;
        },
        [&](std::uint32_t unit, LiveScan::State then, LiveScan::State) {
          if (then == LiveScan::dead)
            ends_[unit] = behind;
          else
            piece(unit, behind, then);
        });
  }
  // What the branch at the end makes superfluous is so in blocks before, too.
  std::erase_if(live_ins_[block], [&](const LiveIn& in) { return !scan_.lives(in.unit); });
  for (const LiveIn& in : live_ins_[block]) {
    const LiveScan::State where = scan_.state(in.unit);
    out_.lives[in.unit].push_back(
        {out_.first_gap[block], ends_[in.unit], none, where == LiveScan::always ? 0 : where});
    found(in.unit, in.node);
  }
  // No definition reaches them.
  for (const std::uint32_t unit : scan_.touched()) {
    std::vector<Segment>& list = out_.lives[unit];
    while (!list.empty() && list.back().value == none) list.pop_back();
  }
}

// Of an instruction's guard, where it holds behind it as well.
LiveScan::State Finder::guard_behind(const Instruction& i) const {
  const LiveScan::State guard = scan_.condition_of(i);
  if (guard == LiveScan::unknown) return LiveScan::always;
  bool changes = false;
  if (i.guard)
    each_unit(i, true, [&](std::uint32_t unit) { changes = changes || unit == out_.unit(i.guard); });
  return changes ? LiveScan::always : guard;
}

void Finder::find_values() {
  LiveValues values(nodes_);
  std::vector<std::uint32_t> now(units_, none), in_block(units_, none);
  for (const LiveIn& in : blocks() == 0 ? std::vector<LiveIn>() : live_ins_[0])
    if (simple_[in.unit] == 0) values.add_input(in.node, LiveValues::undefined);
  std::vector<std::uint32_t> sources;
  for (std::uint32_t b = 0; b < blocks(); ++b) {
    const auto set = [&](std::uint32_t unit, std::uint32_t node) {
      now[unit] = node;
      in_block[unit] = b;
    };
    const auto get = [&](std::uint32_t unit) {
      return in_block[unit] == b ? now[unit] : LiveValues::undefined;
    };
    values.begin_block();
    for (const LiveIn& in : live_ins_[b]) {
      set(in.unit, in.node);
      if (simple_[in.unit] == 0) values.add_meeting(in.node);
    }
    std::uint32_t site = first_site_[b];
    for (const Instruction& i : program_.blocks[b].code) {
      sources.clear();
      if (Ref to, from; copies(i, to, from))
        for (std::uint32_t part = 0; part < from.count; ++part)
          sources.push_back(get(out_.unit(from) + part));
      std::size_t at = 0;
      each_unit(i, true, [&](std::uint32_t unit) {
        if (at < sources.size() && sources[at] != LiveValues::undefined && old_lives_[site] == 0) {
          values.add_copy(site);
          values.add_input(site, sources[at]);
        }
        ++at;
        set(unit, site++);
      });
    }
    for (const std::uint32_t s : next_[b]) {
      values.add_next(s);
      for (const LiveIn& in : live_ins_[s])
        if (simple_[in.unit] == 0) values.add_input(in.node, get(in.unit));
    }
  }
  values.solve();
  node_values_.resize(nodes_);
  for (std::uint32_t n = 0; n < nodes_; ++n) node_values_[n] = values.value(n);
}

void Finder::finish() {
  for (std::vector<Segment>& list : out_.lives) {
    std::ranges::reverse(list);
    std::size_t kept = 0;
    for (Segment s : list) {
      s.value = node_values_[s.value];
      if (kept > 0 && list[kept - 1].to == s.from && list[kept - 1].value == s.value &&
          list[kept - 1].where == s.where)
        list[kept - 1].to = s.to;
      else
        list[kept++] = s;
    }
    list.resize(kept);
  }
}

void Finder::run() {
  find_exposed();
  find_live_ins();
  number_nodes();
  find_segments();
  find_values();
  finish();
}

}  // namespace

bool copies(const Instruction& instruction, Ref& to, Ref& from) {
  if (!instruction.copy) return false;
  to = from = {};
  for (std::size_t k = 0; k < instruction.code.operand_count(); ++k) {
    if (!instruction.refs[k]) continue;
    const machine::Operand& o = instruction.code.operands[k];
    if (o.negated || o.absolute || o.inverted) return false;
    (instruction.is_write(k) ? to : from) = instruction.refs[k];
  }
  return to && from && to.count == from.count;
}

Liveness liveness_of(const Program& program) {
  Liveness out;
  Finder(program, out).run();
  return out;
}

}  // namespace simtlab::assembler
