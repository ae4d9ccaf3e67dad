#include "stream/trace/code.h"

#include <fmt/format.h>

#include <limits>

#include "base/immortal.h"
#include "machine/code.h"
#include "machine/decode.h"
#include "machine/print.h"

namespace simtlab::stream::trace {
namespace {

// A change here, or in what the enumerations mean, needs another format_version. Operation classes may be
// added behind the last one: older traces do not have them, and an older simtlab refuses a trace that has.
// The operations behind nop are machine code's: no trace has them.
static_assert(static_cast<int>(ptx::Op::nop) == 124);
constexpr auto last_class = static_cast<ptx::OpClass>(device::op_class_count - 1);

class Out {
 public:
  explicit Out(Buffer& out) : out_(out) {}
  template <class E>
  void one_of(const E& value, E) {
    put_number(out_, static_cast<std::uint64_t>(value));
  }
  template <class T>
  void number(const T& value) {
    put_number(out_, value);
  }
  void signed_number(const std::int64_t& value) { put_signed(out_, static_cast<std::uint64_t>(value)); }
  // Few of the many flags are ever set: one number for all.
  template <class... T>
  void flags(const T&... value) {
    std::uint64_t bits = 0;
    unsigned i = 0;
    ((bits |= std::uint64_t{value} << i++), ...);
    put_number(out_, bits);
  }
  void text(const std::string& value) { put_text(out_, value); }
  template <class List, class F>
  void list(const List& items, F&& each) {
    put_number(out_, items.size());
    for (const auto& item : items) each(*this, item);
  }

 private:
  Buffer& out_;
};

class In {
 public:
  explicit In(Bytes& in) : in_(in) {}
  template <class E>
  void one_of(E& value, E last) {
    value = static_cast<E>(in_.number(static_cast<std::uint64_t>(last), "an enumerated value"));
  }
  template <class T>
  void number(T& value) {
    value = static_cast<T>(in_.number(std::numeric_limits<T>::max(), "a number"));
  }
  void signed_number(std::int64_t& value) { value = static_cast<std::int64_t>(in_.signed_number()); }
  template <class... T>
  void flags(T&... value) {
    const std::uint64_t bits = in_.number((std::uint64_t{1} << sizeof...(T)) - 1, "a set of flags");
    unsigned i = 0;
    ((value = (bits >> i++ & 1) != 0), ...);
  }
  void text(std::string& value) { value = in_.text(max_text); }
  template <class List, class F>
  void list(List& items, F&& each) {
    for (std::size_t n = in_.count(); n > 0; --n) each(*this, items.emplace_back());
  }

 private:
  static constexpr std::size_t max_text = 1u << 20;
  Bytes& in_;
};

// The same walk writes and reads: what one knows the other does, too.
template <class Io, class O>
void operand(Io& io, O& o) {
  io.one_of(o.kind, ptx::OperandKind::sink);
  if (o.kind == ptx::OperandKind::none) return;
  io.number(o.bytes);
  io.flags(o.negated);
  io.number(o.index);
}

template <class Io, class M>
void mods(Io& io, M& m) {
  using namespace ptx;
  bool any = !(m == Mods{});
  io.flags(any);
  if (!any) return;
  io.one_of(m.rounding, Rounding::rpi);
  io.one_of(m.compare, Compare::nan);
  io.one_of(m.bool_op, BoolOp::xor_);
  io.one_of(m.mul, MulMode::wide);
  io.one_of(m.atom, AtomOp::cas);
  io.one_of(m.shfl, ShflMode::idx);
  io.one_of(m.vote, VoteMode::ballot);
  io.one_of(m.cache, CacheOp::nc);
  io.one_of(m.scope, Scope::sys);
  io.one_of(m.order, MemOrder::mmio);
  io.one_of(m.prmt, PrmtMode::rc16);
  io.one_of(m.bar, BarMode::red_or);
  io.one_of(m.geometry, Geometry::a2d);
  io.one_of(m.space, Space::tex);
  io.number(m.vector);
  io.flags(m.ftz, m.sat, m.approx, m.full, m.relu, m.nan, m.xorsign, m.abs, m.uni, m.to, m.cc_in, m.cc_out,
           m.shift_amount, m.left, m.wrap, m.all, m.aligned, m.wait_all);
  io.number(m.testp);
  io.number(m.lut);
  io.number(m.copy_bytes);
  io.number(m.src_type_hi);
  io.number(m.video);
}

template <class Io, class I>
void instruction(Io& io, I& i) {
  io.one_of(i.op, ptx::Op::nop);
  io.one_of(i.op_class, last_class);
  io.one_of(i.type, ptx::Type::surfref);
  io.one_of(i.stype, ptx::Type::surfref);
  mods(io, i.mods);
  operand(io, i.guard);
  io.number(i.dst_count);
  io.number(i.src_count);
  if (i.dst_count > ptx::max_dst || i.src_count > ptx::max_src)
    throw Malformed("an instruction has too many operands");
  for (unsigned k = 0; k < i.dst_count; ++k) operand(io, i.dst[k]);
  for (unsigned k = 0; k < i.src_count; ++k) operand(io, i.src[k]);
  io.flags(i.frame_relative, i.low_half, i.shifts);  // shifts: from version 3 on
  io.one_of(i.fold, ptx::Fold::predicate);
  io.one_of(i.takes, ptx::Fold::predicate);
  io.signed_number(i.imm_offset);
  io.number(i.target);
  io.number(i.reconverge);
  io.number(i.line);
  io.number(i.column);
  io.number(i.file);
  io.number(i.source_line);
}

template <class Io, class A>
void argument(Io& io, A& a) {
  operand(io, a.reg);
  io.number(a.caller_offset);
  io.number(a.callee_offset);
  io.number(a.bytes);
}

template <class Io, class C>
void call_site(Io& io, C& c) {
  io.flags(c.indirect);
  io.number(c.function);
  operand(io, c.pointer);
  const auto number = [](Io& o, auto& n) { o.number(n); };
  const auto arg = [](Io& o, auto& a) { argument(o, a); };
  io.list(c.candidates, number);
  io.list(c.args, arg);
  io.list(c.returns, arg);
}

template <class Io, class F>
void function(Io& io, F& f) {
  io.text(f.name);
  io.flags(f.is_entry);
  io.list(f.code, [](Io& o, auto& i) { instruction(o, i); });
  io.list(f.constants, [](Io& o, auto& c) {
    o.one_of(c.kind, ptx::Constant::Kind::launch_state);
    o.number(c.symbol);
    o.number(c.value);
  });
  io.list(f.call_sites, [](Io& o, auto& c) { call_site(o, c); });
  io.list(f.branch_tables, [](Io& o, auto& t) { o.list(t, [](Io& p, auto& pc) { p.number(pc); }); });
  for (auto* n :
       {&f.reg_rows, &f.pred_count, &f.frame_bytes, &f.shared_bytes, &f.param_bytes, &f.registers,
        &f.max_call_depth, &f.total_reg_rows, &f.total_preds, &f.total_frame_bytes, &f.max_nreg,
        &f.min_nctapersm, &f.unlimited_registers, &f.barriers, &f.line, &f.ntid_line, &f.ntid_column})
    io.number(*n);
  for (auto& n : f.max_ntid) io.number(n);
  for (auto& n : f.req_ntid) io.number(n);
}

// The words of machine code, from version 4 on; nothing where the function has none.
constexpr std::uint64_t flag_lanes_merged = 1, flag_assembled = 2, flag_optimised = 4;  // from 5 on all

void put_machine(Buffer& out, const ptx::Function& f, bool lanes_merged) {
  const machine::Code& code = *f.machine;
  put_number(out, code.generation);
  out.push_back(static_cast<std::uint8_t>((lanes_merged ? flag_lanes_merged : 0) |
                                          (f.assembled ? flag_assembled : 0) |
                                          (f.optimised ? flag_optimised : 0)));
  put_number(out, code.words.size());
  for (const machine::Word& word : code.words) {
    put_u64(out, word.low);
    put_u64(out, word.high);
  }
}

std::shared_ptr<const machine::Code> read_machine(Bytes& in, std::size_t instructions, ptx::Function& f,
                                                  bool& lanes_merged) {
  auto code = std::make_shared<machine::Code>();
  code->generation = static_cast<unsigned>(in.number(0xffff, "a generation of machine code"));
  if (!machine::is_assembled(code->generation))
    throw Malformed(fmt::format("it has machine code for sm_{}, which is not known", code->generation));
  const std::uint64_t flags = in.number(7, "flags");
  lanes_merged = (flags & flag_lanes_merged) != 0;
  f.assembled = (flags & flag_assembled) != 0;
  f.optimised = (flags & flag_optimised) != 0;
  if (in.count() != instructions) throw Malformed("instructions and their words are not equally many");
  code->words.reserve(instructions);
  code->instructions.reserve(instructions);
  for (std::size_t i = 0; i < instructions; ++i) {
    const std::uint64_t low = in.u64();
    code->words.push_back({low, in.u64()});
    auto decoded = machine::decode(machine::Forms::shipped(), code->generation, code->words.back(),
                                   static_cast<std::uint32_t>(i * machine::word_bytes));
    if (const auto* why = std::get_if<machine::Undecoded>(&decoded))
      throw Malformed(fmt::format("a word is no known instruction: {}", why->reason));
    code->instructions.push_back(std::get<machine::Instruction>(decoded));
  }
  return code;
}

// What readers of a trace ask for, whether the words are known or names alone.
void name_instructions(Code& code, const machine::Code& machine) {
  for (const machine::Instruction& instruction : machine.instructions) {
    code.mnemonics.push_back(machine::opcode_text(instruction));
    code.addresses.push_back(instruction.address);
  }
}

void check(const ptx::Function& f) {
  if (f.code.empty()) throw Malformed("a function has no instructions");
  for (const ptx::Inst& i : f.code) {
    if ((i.op == ptx::Op::bra) && i.target >= f.code.size() && i.target != ptx::no_pc)
      throw Malformed("a branch leaves its function");
    if (i.mods.vector == 0 || i.mods.vector > 32) throw Malformed("a vector has no elements or too many");
  }
  // Rows and predicates are places of the scoreboard.
  for (const std::uint32_t n : {f.reg_rows, f.pred_count, f.total_reg_rows, f.total_preds})
    if (n > 0x7000) throw Malformed("a function has " + std::to_string(n) + " registers");
  if (f.total_frame_bytes > (1u << 24) || f.registers > 0xffff)
    throw Malformed("a function has too much local memory or too many registers");
}

}  // namespace

Buffer write_code(const ptx::Module& module, const ptx::Function& f, const Code* recorded) {
  static const Immortal<Code> none;
  const Code& code = recorded == nullptr || f.machine ? *none : *recorded;
  Buffer out;
  Out io(out);
  io.text(module.name);
  io.text(module.target);
  io.list(module.files, [](Out& o, const auto& file) {
    o.number(file.first);
    o.text(file.second);
  });
  function(io, f);
  io.list(code.mnemonics, [](Out& o, const std::string& m) { o.text(m); });
  io.list(code.addresses, [](Out& o, std::uint64_t a) { o.number(a); });
  io.list(code.guessed, [](Out& o, std::uint32_t pc) { o.number(pc); });
  if (f.machine) put_machine(out, f, recorded != nullptr && recorded->lanes_merged);
  return out;
}

Code read_code(Bytes bytes) {
  Code code;
  In io(bytes);
  const auto module = std::make_shared<ptx::Module>();
  io.text(module->name);
  io.text(module->target);
  for (std::size_t n = bytes.count(); n > 0; --n) {
    unsigned number = 0;
    io.number(number);
    io.text(module->files[number]);
  }
  function(io, module->functions.emplace_back());
  io.list(code.mnemonics, [](In& o, std::string& m) { o.text(m); });
  io.list(code.addresses, [](In& o, std::uint64_t& a) { o.number(a); });
  io.list(code.guessed, [](In& o, std::uint32_t& pc) { o.number(pc); });
  ptx::Function& f = module->functions.front();
  if (!bytes.at_end()) {
    if (!code.mnemonics.empty() || !code.addresses.empty() || !code.guessed.empty())
      throw Malformed("it has names of instructions beside their words");
    const std::shared_ptr<const machine::Code> machine =
        read_machine(bytes, f.code.size(), f, code.lanes_merged);
    name_instructions(code, *machine);
    f.machine = machine;
  }
  bytes.end();
  check(f);
  if ((!code.mnemonics.empty() && code.mnemonics.size() != f.code.size()) ||
      code.addresses.size() != code.mnemonics.size())
    throw Malformed("mnemonics and instructions are not equally many");
  code.module = module;
  return code;
}

// Commits and waits of asynchronous copies touch nothing.
bool has_addresses(const ptx::Inst& inst) {
  return ptx::accesses_memory(inst.op_class) &&
         (inst.op_class != ptx::OpClass::async_copy || inst.op == ptx::Op::cp_async);
}

bool has_own_mask(const ptx::Inst& inst) {
  return inst.guard.kind != ptx::OperandKind::none || inst.op_class == ptx::OpClass::control ||
         inst.op_class == ptx::OpClass::barrier;
}

}  // namespace simtlab::stream::trace
