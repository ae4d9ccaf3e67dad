#include "ptx/fold.h"

#include <algorithm>
#include <bit>

#include "ptx/fold_parts.h"
#include "ptx/liveness.h"

namespace simtlab::ptx {
namespace {

constexpr std::uint32_t none = no_pc;
constexpr unsigned look_ahead = 64;       // instructions between one that is taken in and its user
constexpr std::size_t most_products = 4;  // of one product, in sums that are far away
constexpr std::int64_t largest_offset = (1 << 23) - 1;  // of an access in machine code: 24 bits with sign

class Folder {
 public:
  Folder(Function& f, const Cfg& cfg, const std::vector<Type>& types) : f_(f), cfg_(cfg), types_(types) {}

  void run() {
    gather();
    find_low_halves(f_, types_);
    known_.assign(f_.code.size(), false);
    fold_branches();
    for (std::uint32_t pc = 0; pc < f_.code.size(); ++pc) fold_operand(pc);
    for (Inst& inst : f_.code) inst.shifts = by_power_of_two(inst);
    only_address_.assign(types_.size(), Answer::unknown);
    for (std::uint32_t pc = 0; pc < f_.code.size(); ++pc) fold_address(pc);
    for (std::uint32_t pc = 0; pc < f_.code.size(); ++pc) take_in(pc);
  }

 private:
  enum class Answer : std::uint8_t { unknown, yes, no };

  // Definitions, and uses in compressed rows (one entry an operand).
  void gather() {
    def_.assign(types_.size(), none);
    defs_.assign(types_.size(), 0);
    use_start_.assign(types_.size() + 1, 0);
    Accesses now;
    for (std::uint32_t pc = 0; pc < f_.code.size(); ++pc) {
      accesses_of(f_, f_.code[pc], now);
      for (const std::uint32_t r : now.reads) ++use_start_[r + 1];
      for (const std::uint32_t r : now.writes) {
        ++defs_[r];
        def_[r] = defs_[r] == 1 && f_.code[pc].guard.kind == OperandKind::none && f_.code[pc].op != Op::call
                      ? pc
                      : none;
      }
    }
    for (std::size_t r = 0; r < types_.size(); ++r) use_start_[r + 1] += use_start_[r];
    uses_.resize(use_start_.back());
    std::vector<std::uint32_t> next(use_start_.begin(), use_start_.end() - 1);
    for (std::uint32_t pc = 0; pc < f_.code.size(); ++pc) {
      accesses_of(f_, f_.code[pc], now);
      for (const std::uint32_t r : now.reads) uses_[next[r]++] = pc;
    }
  }

  struct Uses {
    const std::uint32_t *first, *last;
    const std::uint32_t* begin() const { return first; }
    const std::uint32_t* end() const { return last; }
    std::size_t size() const { return static_cast<std::size_t>(last - first); }
  };
  Uses uses(std::uint32_t r) const {
    return {uses_.data() + use_start_[r], uses_.data() + use_start_[r + 1]};
  }
  // The only instruction that writes it; none.
  std::uint32_t definition(const Operand& o) const { return is_register(o) ? def_[o.index] : none; }

  // A number that the assembler knows.
  bool known(const Operand& o) const {
    if (o.kind == OperandKind::imm) return f_.constants[o.index].kind == Constant::Kind::value;
    const std::uint32_t d = definition(o);
    return d != none && f_.code[d].fold == Fold::operand && known_[d];
  }

  const Constant* constant(const Operand& o) const {
    if (o.kind == OperandKind::imm) return &f_.constants[o.index];
    const std::uint32_t d = definition(o);
    if (d == none || f_.code[d].op != Op::mov || f_.code[d].src_count != 1 || f_.code[d].frame_relative)
      return nullptr;
    return f_.code[d].src[0].kind == OperandKind::imm ? &f_.constants[f_.code[d].src[0].index] : nullptr;
  }
  bool is_number(const Operand& o) const {
    const Constant* c = constant(o);
    return c != nullptr && c->kind == Constant::Kind::value;
  }

  // No operand of the instruction at `from` is written between it and `to`, which comes after it in the same
  // block.
  bool keeps(std::uint32_t from, std::uint32_t to) const {
    if (to <= from || to - from > look_ahead || cfg_.block_of[from] != cfg_.block_of[to]) return false;
    const Inst& inst = f_.code[from];
    for (unsigned i = 0; i < inst.src_count; ++i) {
      if (!is_register(inst.src[i]) || defs_[inst.src[i].index] <= 1) continue;
      for (std::uint32_t pc = from + 1; pc < to; ++pc) {
        const Inst& between = f_.code[pc];
        for (unsigned k = 0; k < between.dst_count; ++k)
          if (is_register(between.dst[k]) && between.dst[k].index == inst.src[i].index) return false;
        if (between.op == Op::call) return false;
      }
    }
    return true;
  }
  // Nobody writes its operands twice.
  bool keeps_anywhere(std::uint32_t from) const {
    const Inst& inst = f_.code[from];
    for (unsigned i = 0; i < inst.src_count; ++i)
      if (is_register(inst.src[i]) && defs_[inst.src[i].index] > 1) return false;
    return true;
  }
  bool keeps_for_all(std::uint32_t from) const {
    const Inst& inst = f_.code[from];
    if (keeps_anywhere(from)) return true;
    for (unsigned k = 0; k < inst.dst_count; ++k)
      if (is_register(inst.dst[k]))
        for (const std::uint32_t user : uses(inst.dst[k].index))
          if (!keeps(from, user)) return false;
    return true;
  }

  // A copy whose source and result can be one register: nobody writes either of them again, or the source
  // ends here.
  bool coalesces(std::uint32_t pc) const {
    const Inst& inst = f_.code[pc];
    bool ends = true, once = true;
    for (unsigned i = 0; i < inst.src_count; ++i) {
      if (!is_register(inst.src[i])) return false;
      ends = ends && defs_[inst.src[i].index] == 1 && uses(inst.src[i].index).size() == 1;
    }
    for (unsigned k = 0; k < inst.dst_count; ++k)
      once = once && is_register(inst.dst[k]) && defs_[inst.dst[k].index] == 1;
    return ends || (once && keeps_for_all(pc));
  }

  // Somebody needs it in a register: as an address, as a value to store, for a call. zero: a register of its
  // own in machine code.
  bool needs_register(std::uint32_t r, bool zero) const {
    for (const std::uint32_t user : uses(r)) {
      const Inst& inst = f_.code[user];
      if (inst.op == Op::call) return true;
      for (unsigned i = 0; i < inst.src_count; ++i) {
        if (!is_register(inst.src[i]) || inst.src[i].index != r) continue;
        if (is_base(inst, i) || (accesses_memory(inst.op_class) && !zero)) return true;
      }
    }
    return false;
  }

  // An assembler lays blocks out so that one of the jumps to a block that nothing falls into need not jump.
  // The last one, for it is a loop's.
  void fold_branches() {
    std::vector<bool> placed(cfg_.blocks.size() + 1, false);
    placed[0] = true;
    for (std::uint32_t pc = 0; pc + 1 < f_.code.size(); ++pc) {
      const Inst& inst = f_.code[pc];
      const bool ends = inst.op == Op::bra || inst.op == Op::brx || inst.op == Op::ret ||
                        inst.op == Op::exit || inst.op == Op::trap;
      if (!ends || inst.guard.kind != OperandKind::none) placed[cfg_.block_of[pc + 1]] = true;
    }
    for (std::size_t pc = f_.code.size(); pc-- > 0;) {
      Inst& inst = f_.code[pc];
      if (inst.op != Op::bra || inst.guard.kind != OperandKind::none || inst.target >= f_.code.size())
        continue;
      const std::uint32_t block = cfg_.block_of[inst.target];
      if (placed[block] || (block == cfg_.block_of[pc] && cfg_.blocks[block].first == pc)) continue;
      placed[block] = true;
      inst.fold = Fold::operand;
    }
  }

  void fold_operand(std::uint32_t pc) {
    Inst& inst = f_.code[pc];
    if (inst.guard.kind != OperandKind::none) return;
    if (inst.op == Op::bra) return;
    for (unsigned k = 0; k < inst.dst_count; ++k)
      if (!is_register(inst.dst[k]) && inst.dst[k].kind != OperandKind::sink) return;
    if (!disappears(pc, inst)) return;
    inst.fold = Fold::operand;
    known_[pc] = knows_operands(inst);
  }

  bool knows_operands(const Inst& inst) const {
    if (inst.op == Op::ld || inst.src_count == 0 || inst.frame_relative) return false;
    for (unsigned i = 0; i < inst.src_count; ++i)
      if (!known(inst.src[i])) return false;
    return true;
  }

  // Arithmetic with numbers only is done by the assembler.
  bool is_arithmetic(const Inst& inst) const {
    return device::traits(inst.op_class).is_arithmetic && inst.type != Type::pred && inst.op != Op::mov &&
           !inst.mods.cc_in && !inst.mods.cc_out;
  }

  bool disappears(std::uint32_t pc, const Inst& inst) const {
    const bool once = plain(inst) && defs_[inst.dst[0].index] == 1;
    if (is_arithmetic(inst) && once && knows_operands(inst)) return !needs_register(inst.dst[0].index, false);
    switch (inst.op) {
      case Op::ld:
        return inst.mods.space == Space::param && !inst.frame_relative && once &&
               inst.src[0].kind == OperandKind::imm && !needs_register(inst.dst[0].index, false);
      case Op::mov:
        if (inst.frame_relative) return false;
        if (inst.src_count == 1 && inst.src[0].kind == OperandKind::imm) {
          const Constant& c = f_.constants[inst.src[0].index];
          return once && !needs_register(inst.dst[0].index, c.kind == Constant::Kind::value && c.value == 0);
        }
        if (inst.src_count == 1 && inst.src[0].kind == OperandKind::special)
          return once && is_launch_constant(inst.src[0]);
        return coalesces(pc);
      case Op::cvta:
        return (inst.mods.to || inst.mods.space == Space::global) && !inst.frame_relative &&
               (inst.src[0].kind == OperandKind::imm ? once : coalesces(pc));
      case Op::cvt: return once && ((keeps_bits(inst) && coalesces(pc)) || saturates(pc, inst));
      case Op::not_: return inst.type == Type::pred && once && keeps_for_all(pc);
      default: return false;
    }
  }

  // The same for the whole grid: machine code has it among the constants.
  static bool is_launch_constant(const Operand& o) {
    const auto s = static_cast<Special>(o.index);
    return (s >= Special::ntid_x && s <= Special::ntid_z) ||
           (s >= Special::nctaid_x && s <= Special::nctaid_z);
  }

  // Cutting to [0, 1] is a modifier of the sum or product before it.
  bool saturates(std::uint32_t pc, const Inst& inst) const {
    if (!inst.mods.sat || inst.type != Type::f32 || inst.stype != Type::f32 ||
        inst.src[0].kind != OperandKind::reg)
      return false;
    const std::uint32_t d = definition(inst.src[0]);
    if (d == none || !plain(f_.code[d]) || f_.code[d].type != Type::f32 || !only_user(d, pc)) return false;
    const Op made = f_.code[d].op;
    return made == Op::add || made == Op::sub || made == Op::mul || made == Op::fma || made == Op::mad;
  }

  // A conversion between integers that leaves the register as it is.
  bool keeps_bits(const Inst& inst) const {
    if (!is_integer(inst.type) || !is_integer(inst.stype) || inst.mods.sat ||
        inst.src[0].kind != OperandKind::reg)
      return false;
    const unsigned to = size_of(inst.type), from = size_of(inst.stype);
    if (to >= 4 && from >= 4) return to <= from || inst.low_half;
    if (to == from || (to == 2 && from > 2)) return true;
    // A narrow load has extended its value, if it has the same sign.
    const std::uint32_t d = definition(inst.src[0]);
    if (to < from || d == none) return false;
    const Inst& load = f_.code[d];
    return (load.op == Op::ld || load.op == Op::ldu) && is_signed(load.type) == is_signed(inst.stype) &&
           size_of(load.type) <= from;
  }

  // Every use is the address of an access, or a sum whose uses are such addresses.
  bool only_address(std::uint32_t r, unsigned depth = 0) {
    Answer& known = only_address_[r];
    if (known != Answer::unknown) return known == Answer::yes;
    known = Answer::no;  // also of what depends on itself
    if (defs_[r] != 1 || uses(r).size() == 0) return false;
    for (const std::uint32_t user : uses(r)) {
      const Inst& inst = f_.code[user];
      for (unsigned i = 0; i < inst.src_count; ++i) {
        if (!is_register(inst.src[i]) || inst.src[i].index != r || is_base(inst, i)) continue;
        if (depth == look_ahead || !is_sum(inst) || !plain(inst) || (inst.op == Op::sub && i == 1) ||
            !only_address(inst.dst[0].index, depth + 1))
          return false;
      }
      if (inst.op == Op::call || (inst.guard.kind != OperandKind::none && inst.guard.index == r))
        return false;
    }
    only_address_[r] = Answer::yes;
    return true;
  }

  void fold_address(std::uint32_t pc) {
    Inst& inst = f_.code[pc];
    if (!is_sum(inst) || !plain(inst) || !is_integer(inst.type) || inst.fold != Fold::none ||
        defs_[inst.dst[0].index] != 1)
      return;
    const unsigned number = inst.op == Op::add && is_number(inst.src[0]) ? 0 : 1;
    if (!is_number(inst.src[number]) || inst.src[1 - number].kind != OperandKind::reg) return;
    const std::uint64_t bits = constant(inst.src[number])->value;
    const auto offset = size_of(inst.type) == 8 ? static_cast<std::int64_t>(bits)
                                                : static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    if (offset > largest_offset || offset < -largest_offset) return;
    if (keeps_for_all(pc) && only_address(inst.dst[0].index)) inst.fold = Fold::address;
  }

  bool by_power_of_two(const Inst& inst) const {
    if ((inst.op != Op::mul && inst.op != Op::mad) || !is_integer(inst.type) || inst.mods.cc_in ||
        inst.mods.cc_out || inst.mods.sat)
      return false;
    const unsigned sign = 8 * size_of(inst.type) - 1;
    const auto fits = [&](const Operand& o) {
      return is_number(o) && std::has_single_bit(constant(o)->value) && constant(o)->value >> sign == 0;
    };
    return fits(inst.src[0]) || fits(inst.src[1]);
  }

  // The parts of its operands that the instruction can take in.
  void take_in(std::uint32_t pc) {
    Inst& inst = f_.code[pc];
    if (inst.fold != Fold::none && inst.fold != Fold::sum && inst.fold != Fold::logic) return;
    for (unsigned i = 0; i < inst.src_count && inst.takes == Fold::none; ++i) {
      const std::uint32_t d = definition(inst.src[i]);
      if (d == none || f_.code[d].fold != Fold::none || !plain(f_.code[d])) continue;
      const Fold kind = kind_of(inst, i, f_.code[d], d);
      if (kind == Fold::none) continue;
      if (kind == Fold::predicate) {
        inst.fold = kind;
        f_.code[d].takes = kind;
        return;
      }
      f_.code[d].fold = kind;
      if (kind != Fold::sign) inst.takes = kind;
    }
    if (inst.takes == Fold::wide || inst.takes == Fold::product || inst.takes == Fold::shift) share(inst);
  }

  bool only_user(std::uint32_t producer, std::uint32_t user) const {
    return uses(f_.code[producer].dst[0].index).size() == 1 && keeps(producer, user);
  }

  Fold kind_of(const Inst& user, unsigned operand, const Inst& made, std::uint32_t producer) const {
    const auto pc = static_cast<std::uint32_t>(&user - f_.code.data());
    if ((made.op == Op::neg || made.op == Op::abs) && can_modify(user, made, operand) &&
        only_user(producer, pc))
      return Fold::sign;
    if (user.op == Op::setp || user.op == Op::mov) return Fold::none;
    if ((user.op == Op::and_ || user.op == Op::or_) && user.type == Type::pred)
      return made.op == Op::setp && made.takes == Fold::none && made.mods.bool_op == BoolOp::none &&
                     only_user(producer, pc)
                 ? Fold::predicate
                 : Fold::none;
    if (is_logic(user.op) && is_logic(made.op) && user.type == made.type && user.type != Type::pred)
      return made.takes == Fold::none && only_user(producer, pc) ? Fold::logic : Fold::none;
    if (!is_sum(user)) return Fold::none;
    if (is_float(user.type)) return Fold::none;  // contract() has made fused multiply-adds
    return kind_in_sum(user, made, producer, pc);
  }

  Fold kind_in_sum(const Inst& user, const Inst& made, std::uint32_t producer, std::uint32_t pc) const {
    const unsigned bytes = size_of(user.type);
    if (made.op == Op::mul && made.mods.mul == MulMode::wide && bytes == 8 && size_of(made.type) == 4)
      return summed_everywhere(made, 8) && keeps_for_all(producer) ? Fold::wide : Fold::none;
    if (size_of(types_[made.dst[0].index]) != bytes) return Fold::none;
    if (!only_user(producer, pc) && !moves_to_users(user, made, producer)) return Fold::none;
    if (made.op == Op::mul && made.mods.mul == MulMode::lo && bytes == 4)
      return made.shifts ? Fold::shift : Fold::product;
    if (made.op == Op::shl && is_number(made.src[1])) return Fold::shift;
    if (is_sum(made) && made.takes == Fold::none && is_integer(made.type)) return Fold::sum;
    return Fold::none;
  }

  // Into loops as well, as ptxas has it: a step of a loop that is a product stands in each round as a
  // multiply-add, the sum of two terms as a sum of three. Of 32 bits; differences would need a term's
  // opposite.
  bool moves_to_users(const Inst& user, const Inst& made, std::uint32_t producer) const {
    if (size_of(user.type) != 4 || !keeps_anywhere(producer) || !summed_everywhere(made, 4)) return false;
    const Uses all = uses(made.dst[0].index);
    if (std::ranges::any_of(all, [&](std::uint32_t u) { return f_.code[u].op == Op::sub; })) return false;
    return is_sum(made) ? all.size() == 1 : all.size() <= most_products;
  }

  // Sums of so many bytes only, none of which has taken in something else.
  bool summed_everywhere(const Inst& product, unsigned bytes) const {
    for (const std::uint32_t user : uses(product.dst[0].index)) {
      const Inst& inst = f_.code[user];
      if (!is_sum(inst) || !plain(inst) || !is_integer(inst.type) || size_of(inst.type) != bytes ||
          inst.takes != Fold::none || inst.fold != Fold::none)
        return false;
      if (inst.src[0] == inst.src[1] || (inst.op == Op::sub && inst.src[0] == product.dst[0])) return false;
    }
    return true;
  }
  // The other sums of the same product take it in, too.
  void share(const Inst& user) {
    for (unsigned i = 0; i < user.src_count; ++i) {
      const std::uint32_t d = definition(user.src[i]);
      if (d == none || f_.code[d].fold != user.takes) continue;
      for (const std::uint32_t other : uses(f_.code[d].dst[0].index)) f_.code[other].takes = user.takes;
    }
  }

  // Operands of floating-point arithmetic and of comparisons have a sign and a bar; those of integer sums a
  // sign.
  static bool can_modify(const Inst& user, const Inst& made, unsigned operand) {
    if (!is_float(made.type))
      return made.op == Op::neg && is_sum(user) && is_integer(user.type) &&
             size_of(user.type) == size_of(made.type);
    if (user.type != made.type) return false;
    switch (user.op) {
      case Op::add:
      case Op::sub:
      case Op::mul:
      case Op::min:
      case Op::max:
      case Op::setp: return true;
      case Op::fma: return made.op == Op::neg && operand < 3;
      default: return false;
    }
  }

  Function& f_;
  const Cfg& cfg_;
  const std::vector<Type>& types_;
  std::vector<std::uint32_t> def_, defs_, use_start_, uses_;
  std::vector<Answer> only_address_;
  std::vector<bool> known_;  // instructions whose result is a number that the assembler knows
};

}  // namespace

void fold(Function& function, const Cfg& cfg, const std::vector<Type>& types) {
  Folder(function, cfg, types).run();
}

}  // namespace simtlab::ptx
