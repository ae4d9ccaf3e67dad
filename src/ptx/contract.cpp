#include "ptx/contract.h"

#include <array>
#include <utility>
#include <vector>

#include "ptx/cfg.h"
#include "ptx/liveness.h"

namespace simtlab::ptx {
namespace {

bool may_contract(const Inst& inst) {
  return is_float(inst.type) && inst.mods.rounding == Rounding::none && inst.dst_count == 1 &&
         inst.src_count == 2 && inst.dst[0].kind == OperandKind::reg;
}
bool is_plain_product(const Inst& inst) {
  return inst.op == Op::mul && may_contract(inst) && !inst.mods.sat && inst.guard.kind == OperandKind::none;
}
bool is_plain_sum(const Inst& inst) {
  return (inst.op == Op::add || inst.op == Op::sub) && may_contract(inst);
}

class Contraction {
 public:
  explicit Contraction(VirtualFunction& function) : function_(function), code_(function.fn.code) {}

  void run() {
    gather();
    if (!any_) return;
    find_sums();
    choose();
    if (chosen_) rewrite();
  }

 private:
  struct Register {
    std::uint32_t definition = no_pc, writes = 0, reads = 0;
    std::uint32_t fusable = 0;  // reads by sums that can take the product in
  };
  struct Sum {
    std::uint32_t pc;
    std::array<std::uint32_t, 2> products = {no_pc, no_pc};  // that it can take in, by operand
  };
  static constexpr std::uint8_t nothing = 2;

  // Whether there is anything to fuse is known before any memory is asked for.
  void gather() {
    bool product = false;
    for (const Inst& inst : code_) {
      any_ = any_ || (product && is_plain_sum(inst));
      product = product || is_plain_product(inst);
    }
    if (!any_) return;
    registers_.resize(function_.registers.size());
    Accesses now;
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
      accesses_of(function_.fn, code_[pc], now);
      for (const std::uint32_t r : now.reads) ++registers_[r].reads;
      for (const std::uint32_t r : now.writes) {
        registers_[r].definition = pc;
        ++registers_[r].writes;
      }
    }
  }

  // The product in an operand of a sum; no_pc: none that it could take in.
  std::uint32_t product_in(const Inst& sum, std::uint32_t pc, unsigned operand) const {
    const Operand& o = sum.src[operand];
    if (o.kind != OperandKind::reg || sum.src[0] == sum.src[1]) return no_pc;
    const Register& r = registers_[o.index];
    if (r.writes != 1 || r.definition >= pc || block_of_[r.definition] != block_of_[pc]) return no_pc;
    const Inst& product = code_[r.definition];
    if (!is_plain_product(product) || product.type != sum.type || product.mods.ftz != sum.mods.ftz)
      return no_pc;
    return r.definition;
  }
  // Factors that have other values at the sum are kept.
  void keep_factors(std::uint32_t product) {
    for (unsigned k = 0; k < 2; ++k) {
      const Operand& factor = code_[product].src[k];
      if (factor.kind == OperandKind::reg && written_since(factor.index, product))
        kept_[product] = static_cast<std::uint8_t>(kept_[product] | 1u << k);
    }
  }
  bool written_since(std::uint32_t reg, std::uint32_t pc) const {
    return last_write_[reg] != no_pc && last_write_[reg] >= pc;
  }

  void find_sums() {
    block_of_ = build_cfg(function_.fn).block_of;
    last_write_.assign(registers_.size(), no_pc);
    kept_.assign(code_.size(), 0);
    Accesses now;
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
      if (is_plain_sum(code_[pc])) {
        Sum sum{.pc = pc};
        for (unsigned operand = 0; operand < 2; ++operand) {
          sum.products[operand] = product_in(code_[pc], pc, operand);
          if (sum.products[operand] == no_pc) continue;
          ++registers_[code_[pc].src[operand].index].fusable;
          keep_factors(sum.products[operand]);
        }
        sums_.push_back(sum);
      }
      accesses_of(function_.fn, code_[pc], now);
      for (const std::uint32_t r : now.writes) last_write_[r] = pc;
    }
  }

  Register& result_of(std::uint32_t product) { return registers_[code_[product].dst[0].index]; }

  // First the products that one sum reads, then those that several do.
  void choose() {
    operand_.assign(code_.size(), nothing);
    for (const bool several : {false, true}) {
      for (const Sum& sum : sums_) {
        for (unsigned k = 0; k < 2 && operand_[sum.pc] == nothing; ++k) {
          const std::uint32_t product = sum.products[k];
          if (product == no_pc) continue;
          const Register& result = result_of(product);
          if (result.fusable != result.reads || (result.reads > 1) != several) continue;
          operand_[sum.pc] = static_cast<std::uint8_t>(k);
          chosen_ = true;
          // What is read as a summand can't go away.
          if (sum.products[1 - k] != no_pc) --result_of(sum.products[1 - k]).fusable;
        }
      }
    }
    // A sum that came before its product was found to stay
    for (const Sum& sum : sums_) {
      if (operand_[sum.pc] == nothing) continue;
      const Register& result = result_of(sum.products[operand_[sum.pc]]);
      if (result.fusable != result.reads) operand_[sum.pc] = nothing;
    }
  }

  // The operand, moved or with its sign changed, in a register of its own.
  Operand made(Op op, const Inst& like, const Operand& operand) {
    Inst inst = like;
    inst.op = op;
    inst.mods = {};
    if (op == Op::mov) {
      const unsigned bytes = size_of(like.type);
      inst.type = bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64;
      inst.op_class = OpClass::int_alu;
    }
    inst.src_count = 1;
    inst.src = {operand};
    inst.dst[0].index = static_cast<std::uint32_t>(function_.registers.size());
    function_.registers.push_back(function_.registers[like.dst[0].index]);
    inst.guard = {};
    fused_.push_back(inst);
    return inst.dst[0];
  }
  Operand negated(const Inst& sum, const Operand& operand) { return made(Op::neg, sum, operand); }

  // In the place of a product: what is kept of its factors.
  void replace(std::uint32_t pc) {
    Inst& product = code_[pc];
    for (unsigned k = 0; k < 2; ++k)
      if ((kept_[pc] >> k & 1u) != 0) product.src[k] = made(Op::mov, product, product.src[k]);
  }

  void fuse(Inst sum) {
    const std::uint8_t k = operand_[fusing_];
    const Inst& product = code_[registers_[sum.src[k].index].definition];
    Operand factor = product.src[0], other = product.src[1], summand = sum.src[1 - k];
    if (factor.kind == OperandKind::imm) std::swap(factor, other);  // signs are operands' of registers
    if (sum.op == Op::sub && k == 0) summand = negated(sum, summand);
    if (sum.op == Op::sub && k == 1) factor = negated(sum, factor);
    sum.op = Op::fma;
    sum.mods.rounding = Rounding::rn;
    sum.src_count = 3;
    sum.src[0] = factor, sum.src[1] = other, sum.src[2] = summand;
    fused_.push_back(sum);
  }

  void rewrite() {
    std::vector<bool> goes(code_.size(), false);
    for (const Sum& sum : sums_)
      if (operand_[sum.pc] != nothing) goes[sum.products[operand_[sum.pc]]] = true;
    std::vector<std::uint32_t> moved(code_.size() + 1);
    for (fusing_ = 0; fusing_ < code_.size(); ++fusing_) {
      moved[fusing_] = static_cast<std::uint32_t>(fused_.size());
      if (goes[fusing_])
        replace(fusing_);
      else if (operand_[fusing_] == nothing)
        fused_.push_back(code_[fusing_]);
      else
        fuse(code_[fusing_]);
    }
    moved.back() = static_cast<std::uint32_t>(fused_.size());
    for (Inst& inst : fused_)
      if (inst.op == Op::bra) inst.target = moved[inst.target];
    for (std::vector<std::uint32_t>& table : function_.fn.branch_tables)
      for (std::uint32_t& target : table) target = moved[target];
    code_ = std::move(fused_);
  }

  VirtualFunction& function_;
  std::vector<Inst>& code_;
  bool any_ = false, chosen_ = false;
  std::vector<Register> registers_;
  std::vector<std::uint32_t> block_of_, last_write_;
  std::vector<Sum> sums_;
  std::vector<std::uint8_t> operand_;  // of a sum, by pc: which of its two it takes in
  std::vector<std::uint8_t> kept_;     // of a product, by pc: factors that change before a sum
  std::vector<Inst> fused_;
  std::uint32_t fusing_ = 0;
};

}  // namespace

void contract(VirtualFunction& function) { Contraction(function).run(); }

}  // namespace simtlab::ptx
