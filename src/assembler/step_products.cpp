#include "assembler/step_products.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "assembler/build.h"
#include "assembler/flow.h"

namespace simtlab::assembler {
namespace {

constexpr unsigned first_generation = 70;

struct Spot {
  std::uint32_t block = none, index = 0;
};
struct Users {
  Spot writer, reader;
  unsigned writers = 0, readers = 0;
};

std::vector<Users> users_of(const Program& program) {
  std::vector<Users> out(program.registers.size());
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b)
    for (std::uint32_t k = 0; k < program.blocks[b].code.size(); ++k)
      for_each_ref(program.blocks[b].code[k], [&](const Ref& r, bool writes) {
        Users& u = out[r.reg];
        (writes ? u.writer : u.reader) = {b, k};
        ++(writes ? u.writers : u.readers);
      });
  return out;
}

class StepProducts {
 public:
  explicit StepProducts(Program& program)
      : p_(program),
        flow_(program),
        users_(users_of(program)),
        made_(program.blocks.size()),
        gone_(program.blocks.size()) {}

  void run() {
    for (std::uint32_t r = 0; r < users_.size(); ++r)
      if (is_step(r)) {
        const Users& u = users_[r];
        made_[u.reader.block].emplace(u.reader.index, at(u.writer));
        gone_[u.writer.block].insert(u.writer.index);
      }
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      if (!made_[b].empty() || !gone_[b].empty()) rebuild(b);
  }

 private:
  const Instruction& at(const Spot& s) const { return p_.blocks[s.block].code[s.index]; }

  bool is_of_launch(const Value& v) const {
    if (v.kind == Value::Kind::constant) return true;
    if (v.kind != Value::Kind::reg || !v.ref || p_.registers[v.ref.reg].width != 1) return false;
    const Users& u = users_[v.ref.reg];
    return u.writers == 1 && at(u.writer).remakes;
  }

  bool is_step(std::uint32_t reg) const {
    const Users& u = users_[reg];
    if (p_.registers[reg].file != File::general || p_.registers[reg].width != 1 ||
        p_.registers[reg].fixed != Register::anywhere || u.writers != 1 || u.readers != 1)
      return false;
    const Instruction &product = at(u.writer), &sum = at(u.reader);
    if (flow_.depth(u.reader.block) <= flow_.depth(u.writer.block) || product.guarded() ||
        product.code.mnemonic() != "IMAD" || sum.guarded() || sum.code.mnemonic() != "IADD3")
      return false;
    const std::optional<SourceValues> sources = source_values(product);
    return sources && sources->count == 3 && is_of_launch(sources->values[0]) &&
           is_of_launch(sources->values[1]) && sources->values[2].is_zero_register();
  }

  void rebuild(std::uint32_t b) {
    std::vector<Instruction> code = std::exchange(p_.blocks[b].code, {});
    for (std::uint32_t k = 0; k < code.size(); ++k) {
      const auto [first, last] = made_[b].equal_range(k);
      for (auto made = first; made != last; ++made) p_.blocks[b].code.push_back(made->second);
      if (!gone_[b].contains(k)) p_.blocks[b].code.push_back(std::move(code[k]));
    }
  }

  Program& p_;
  const Flow flow_;
  const std::vector<Users> users_;  // by register
  // By block: what comes in front of an instruction, and those that go
  std::vector<std::multimap<std::uint32_t, Instruction>> made_;
  std::vector<std::set<std::uint32_t>> gone_;
};

}  // namespace

void compute_steps_in_loops(Program& program) {
  if (program.generation >= first_generation && reads_constants(program.generation))
    StepProducts(program).run();
}

}  // namespace simtlab::assembler
