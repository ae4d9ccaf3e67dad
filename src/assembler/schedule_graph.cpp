#include "assembler/schedule_graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "assembler/schedule_memory.h"

namespace simtlab::assembler {
namespace {

// Registers of loads and stores are free again after so many cycles.
constexpr std::uint32_t late_operand_cycles = 12;
// The comparison that a branch at the end waits for comes when no more than so many cycles are left. ptxas
// has it late, too; of 14 and 24 the number with which cycles of loops come nearer to its code (sm_80, 184
// loops).
constexpr std::uint32_t cycles_left_to_compare = 24;

}  // namespace

class ScheduleGraph::Builder {
 public:
  Builder(std::span<const Instruction> code, std::span<const Effects> effects)
      : code_(code), effects_(effects), tails_(code.size(), 1) {}

  void run() {
    for (std::uint32_t n = 0; n < code_.size(); ++n) add(n);
    find_comparison();
    // What is not read here is wanted soon behind the block.
    for (const Users& u : users_)
      if (u.writer != none && u.readers.empty())
        tails_[u.writer] = std::max(tails_[u.writer], latency(u, none));
    for (std::uint32_t n = 0; n < code_.size(); ++n)
      for (const Effects::Write& w : effects_[n].writes())
        tails_[n] = std::max(tails_[n], settled_latency(code_[n].code.generation, w));
  }

  std::vector<FullEdge> edges() && { return std::move(edges_); }
  std::vector<std::uint32_t> tails() && { return std::move(tails_); }
  // That the branch at the end waits for; none: there is none, or a guarded one.
  std::uint32_t comparison() const { return comparison_; }

 private:
  // Who wrote a register last, and who has read that.
  struct Users {
    std::uint32_t writer = none;
    Effects::Write write;
    std::vector<std::uint32_t> readers;
  };

  std::uint32_t number_of(Place place) {
    const auto [it, fresh] = numbers_.try_emplace(place, static_cast<std::uint32_t>(users_.size()));
    if (fresh) users_.emplace_back();
    return it->second;
  }

  void edge(std::uint32_t from, std::uint32_t to, std::uint32_t cycles) {
    edges_.push_back({from, to, cycles});
  }

  std::uint32_t latency(const Users& users, std::uint32_t reader_node,
                        machine::ResultReader reader = machine::ResultReader::alu) const {
    const machine::Instruction& code = code_[users.writer].code;
    if (effects_[users.writer].late) return expected_latency(code);
    if (reader_node == none) reader = machine::reader_of(code);
    return latency_of(code.generation, users.write, reader);
  }

  void add(std::uint32_t n) {
    const Effects& effects = effects_[n];
    MemoryAccess access = access_of(code_[n].code);
    if (access.has_place) set_base(n, access);
    bool waits = false;
    for (const Effects::Read& read : effects.reads()) {
      Users& users = users_[number_of(read.place)];
      if (users.writer != none) {
        edge(users.writer, n, latency(users, n, read.reader));
        waits = waits || effects_[users.writer].late;
      }
      users.readers.push_back(n);
    }
    keep_before_barrier(n, waits);
    for (const Effects::Write& write : effects.writes()) this->write(n, write);
    order_.add(n, order_kept_by(code_[n].code), access,
               [&](std::uint32_t from, std::uint32_t to) { edge(from, to, 1); });
  }

  void write(std::uint32_t n, const Effects::Write& write) {
    Users& users = users_[number_of(write.place)];
    if (users.writer != none && users.writer != n) {
      const Effects& before = effects_[users.writer];
      edge(users.writer, n,
           before.late ? expected_latency(code_[users.writer].code)
                       : overwrite_latency(code_[n].code.generation, users.write, write));
    }
    for (const std::uint32_t reader : users.readers)
      if (reader != n) edge(reader, n, effects_[reader].late && !write.predicate ? late_operand_cycles : 1);
    users.readers.clear();
    users.writer = n;
    users.write = write;
  }

  // Who waits for a load does so in front of the barrier of a block of threads that is behind it, as ptxas
  // has it.
  void keep_before_barrier(std::uint32_t n, bool waits) {
    if (waits) waiting_.push_back(n);
    if (base_mnemonic(code_[n].code) != "BAR") return;
    for (const std::uint32_t w : waiting_)
      if (w != n) edge(w, n, 1);
    waiting_.clear();
  }

  void find_comparison() {
    if (code_.empty() || code_.back().target == none) return;
    for (const Effects::Read& read : effects_.back().reads()) {
      auto n = static_cast<std::uint32_t>(code_.size()) - 1;
      while (n > 0 && !writes_to(n - 1, read.place)) --n;
      if (n > 0 && !code_[n - 1].guarded()) comparison_ = n - 1;
    }
    if (comparison_ != none) keep_behind_arm();
  }
  bool writes_to(std::uint32_t n, Place place) const {
    return std::ranges::any_of(effects_[n].writes(),
                               [&](const Effects::Write& w) { return w.place == place; });
  }
  // It takes the first predicate of the block that has guarded others before it, and stays behind those, as
  // ptxas has it.
  void keep_behind_arm() {
    std::unordered_set<Place> made;
    Place guard = 0;
    bool found = false;
    for (std::uint32_t n = 0; n < comparison_; ++n) {
      if (code_[n].guarded())
        for (const Effects::Read& read : effects_[n].reads()) {
          if (!made.contains(read.place) || (found && read.place != guard)) continue;
          found = true;
          guard = read.place;
          edge(n, comparison_, 1);
        }
      for (const Effects::Write& w : effects_[n].writes())
        if (w.predicate) made.insert(w.place);
    }
  }

  // The value of the address's registers: they and who wrote them.
  void set_base(std::uint32_t n, MemoryAccess& access) {
    std::size_t next = 0;
    for (const Effects::Read& read : effects_[n].address()) {
      if (next + 2 > access.base.size()) {
        access.has_place = false;
        return;
      }
      access.base[next++] = read.place + 1;
      access.base[next++] = users_[number_of(read.place)].writer;
    }
    for (std::size_t i = 0; i < code_[n].code.operand_count(); ++i)
      if (code_[n].code.operands[i].scale != 1) access.has_place = false;
  }

  std::span<const Instruction> code_;
  std::span<const Effects> effects_;
  std::unordered_map<Place, std::uint32_t> numbers_;
  std::vector<Users> users_;
  std::vector<FullEdge> edges_;
  std::vector<std::uint32_t> tails_;
  std::uint32_t comparison_ = none;
  std::vector<std::uint32_t> waiting_;  // for loads, since the last barrier
  MemoryOrder order_;
};

ScheduleGraph::ScheduleGraph(std::span<const Instruction> code, std::span<const Effects> effects)
    : predecessors_(code.size(), 0) {
  Builder builder(code, effects);
  builder.run();
  std::vector<FullEdge> all = std::move(builder).edges();
  tails_ = std::move(builder).tails();
  fill(all);
  const std::uint32_t comparison = builder.comparison();
  if (comparison == none) return;
  const std::vector<std::uint32_t> left = cycles_to_end();
  for (std::uint32_t n = 0; n < comparison; ++n)
    if (left[n] > cycles_left_to_compare) all.push_back({n, comparison, 1});
  fill(all);
}

void ScheduleGraph::fill(const std::vector<FullEdge>& all) {
  starts_.assign(size() + 1, 0);
  std::ranges::fill(predecessors_, 0);
  for (const FullEdge& e : all) {
    ++starts_[e.from + 1];
    ++predecessors_[e.to];
  }
  for (std::size_t n = 0; n < size(); ++n) starts_[n + 1] += starts_[n];
  std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
  edges_.resize(all.size());
  for (const FullEdge& e : all) edges_[next[e.from]++] = {e.to, e.cycles};
}

std::vector<std::uint32_t> ScheduleGraph::cycles_to_end() const {
  std::vector<std::uint32_t> out = tails_;
  for (std::size_t n = size(); n-- > 0;)
    for (const Edge& e : after(n)) out[n] = std::max(out[n], out[e.to] + e.cycles);
  return out;
}

}  // namespace simtlab::assembler
