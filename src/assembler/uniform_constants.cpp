#include "assembler/uniform_constants.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "assembler/build.h"
#include "assembler/control_effects.h"
#include "assembler/flow.h"
#include "assembler/uniform_forms.h"

namespace simtlab::assembler {
namespace {

// Words of uniform registers: few enough that there are always numbers for them.
constexpr unsigned most_words = 40;

class UniformConstants {
 public:
  UniformConstants(Program& program, UniformUsers users)
      : p_(program),
        flow_(program),
        out_(program, program.generation),
        uniform_(program.registers.size(), false),
        writers_(std::move(users.writers)),
        readers_(std::move(users.readers)),
        in_front_(program.blocks.size()) {}

  void run() {
    const auto count = static_cast<std::uint32_t>(p_.registers.size());
    for (std::uint32_t r = 0; r < count && words_ < most_words; ++r)
      if (is_block_number(r)) move(r);
    for (std::uint32_t r = 0; r < count && words_ < most_words; ++r)
      if (is_constant(r)) move(r);
    insert();
  }

 private:
  Instruction& at(const UniformSpot& s) { return p_.blocks[s.block].code[s.index]; }

  static bool is_load(const Instruction& i) {
    if (i.code.mnemonic() != "LDC" || i.guarded()) return false;
    const auto c = static_cast<std::size_t>(i.code.form->operand("c"));
    return !i.refs[c] && i.code.operands[c].base == machine::zero_register;
  }
  static std::optional<std::uint64_t> number_of(const Instruction& i) {
    const std::optional<SourceValues> sources = source_values(i);
    if (i.guarded() || i.address != none || i.code.mnemonic() != "MOV" || !sources) return std::nullopt;
    const Value& v = sources->values[0];
    if (v.is_number()) return v.bits;
    return v.is_zero_register() ? std::optional<std::uint64_t>(0) : std::nullopt;
  }

  // ... whose product with the block's size is all that it is for.
  bool is_block_number(std::uint32_t reg) {
    const Register& r = p_.registers[reg];
    return r.first_factor && r.file == File::general && r.width == 1 && readers_[reg].size() == 1 &&
           writers_[reg].size() == 1 && at(writers_[reg][0]).code.mnemonic() == "S2R" &&
           !at(writers_[reg][0]).guarded();
  }

  // Written as a whole by a LDC, or as the two halves of a number.
  bool is_constant(std::uint32_t reg) {
    const Register& r = p_.registers[reg];
    if (r.file != File::general || r.fixed != Register::anywhere || r.width > 2 || readers_[reg].empty())
      return false;
    const std::vector<UniformSpot>& writers = writers_[reg];
    if (writers.size() == 1) {
      const Instruction& i = at(writers[0]);
      const auto d = static_cast<std::size_t>(std::max(0, i.code.form->operand("Rd")));
      return is_load(i) && i.refs[d].count == r.width;
    }
    if (r.width != 2 || writers.size() != 2) return false;
    return std::ranges::all_of(writers, [&](const UniformSpot& s) {
      return s.block == writers[0].block && number_of(at(s)).has_value();
    });
  }

  // The nearest block before it where all lanes run together, in no loop that it is not in.
  std::uint32_t place_for(std::uint32_t block) const {
    std::uint32_t b = block;
    while (b != none && (p_.blocks[b].apart || flow_.depth(b) > flow_.depth(block))) b = flow_.dominator(b);
    return b;
  }

  // ptxas keeps addresses in registers of lanes.
  static bool is_address(const Instruction& i, std::uint32_t reg) {
    for (std::size_t k = 0; k < i.code.operand_count(); ++k)
      if (i.code.operands[k].kind == machine::OperandKind::memory && i.refs[k] && i.refs[k].reg == reg)
        return true;
    return false;
  }

  void move(std::uint32_t reg) {
    const UniformSpot first = writers_[reg][0];
    const std::uint32_t block = place_for(first.block);
    if (block == none) return;
    uniform_[reg] = true;
    std::vector<Instruction> changed;
    for (const UniformSpot& s : readers_[reg]) {
      std::optional<Instruction> made;
      if (!is_address(at(s), reg)) made = reading_uniform(out_, p_, at(s), uniform_);
      if (!made) {
        uniform_[reg] = false;
        return;
      }
      changed.push_back(*std::move(made));
    }
    const std::uint32_t loaded = loaded_before(reg, block);
    for (std::size_t k = 0; k < changed.size(); ++k) {
      if (loaded != none)
        for (Ref& r : changed[k].refs)
          if (r && r.reg == reg) r.reg = loaded;
      at(readers_[reg][k]) = std::move(changed[k]);
    }
    p_.registers[reg].file = File::uniform;
    if (loaded != none) {
      gone_.insert(gone_.end(), writers_[reg].begin(), writers_[reg].end());
      return;
    }
    words_ += p_.registers[reg].width;
    for (const UniformSpot& s : writers_[reg]) {
      Instruction made = in_uniform_datapath(out_, at(s), {}, {});
      if (block == first.block) {
        at(s) = std::move(made);
        continue;
      }
      in_front_[block].push_back(std::move(made));
      gone_.push_back(s);
    }
  }

  // The register that the same word was loaded into in a block before, on all ways; none.
  std::uint32_t loaded_before(std::uint32_t reg, std::uint32_t block) {
    const Instruction& i = at(writers_[reg][0]);
    if (!is_load(i)) return none;
    const machine::Operand& c = i.code.operands[static_cast<std::size_t>(i.code.form->operand("c"))];
    auto& known = loaded_[{c.number, c.value, p_.registers[reg].width}];
    for (const auto& [in, other] : known)
      if (in != block && flow_.dominates(in, block)) return other;
    known.emplace_back(block, reg);
    return none;
  }

  void insert() {
    for (const UniformSpot& s : gone_) at(s).writes = 0, at(s).code.form = nullptr;
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) {
      std::vector<Instruction>& code = p_.blocks[b].code;
      std::erase_if(code, [](const Instruction& i) { return i.code.form == nullptr; });
      // Before the branch that ends it, if there is one.
      const bool ends =
          !code.empty() && (code.back().target != none || base_mnemonic(code.back().code) == "EXIT");
      code.insert(code.end() - (ends ? 1 : 0), std::make_move_iterator(in_front_[b].begin()),
                  std::make_move_iterator(in_front_[b].end()));
    }
  }

  Program& p_;
  const Flow flow_;
  Builder out_;
  UniformSet uniform_;
  std::vector<std::vector<UniformSpot>> writers_, readers_;  // by register
  std::vector<std::vector<Instruction>> in_front_;           // by block: what goes to its end
  std::vector<UniformSpot> gone_;
  // By bank, offset and width: block and register
  std::map<std::tuple<std::uint8_t, std::int64_t, std::uint8_t>,
           std::vector<std::pair<std::uint32_t, std::uint32_t>>>
      loaded_;
  unsigned words_ = 0;
};

}  // namespace

void use_uniform_constants(Program& program) {
  if (reads_constants(program.generation) || program.blocks[0].apart) return;
  if (std::optional<UniformUsers> users = uniform_users(program))
    UniformConstants(program, *std::move(users)).run();
}

}  // namespace simtlab::assembler
