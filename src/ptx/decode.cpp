// The frame, the instruction loop, operands by signature, branch targets.
#include "ptx/decode.h"

#include <fmt/format.h>

#include <algorithm>

namespace simtlab::ptx {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) / align * align;
}

}  // namespace

void ModuleScope::report(Place at, std::string message, std::string hint) {
  if (unsupported.size() < Limits::diagnostics)
    unsupported.push_back(source->diagnostic(at, std::move(message), std::move(hint)));
}

std::uint64_t place_formals(const std::vector<AstVariable>& formals, std::uint64_t start,
                            std::vector<Param>& out) {
  std::uint64_t offset = start;
  for (const AstVariable& v : formals) {
    offset = round_up(offset, v.align);
    Param p;
    p.name = v.name;
    p.type = v.type;
    p.offset = static_cast<std::uint32_t>(offset);
    p.bytes = static_cast<std::uint32_t>(v.bytes);
    p.align = v.align;
    p.pointee = v.pointee;
    p.is_pointer = v.is_pointer;
    p.pointee_align = v.pointee_align;
    out.push_back(std::move(p));
    offset += v.bytes;
    // Any sum beyond this is refused by the callers; stop before 32 bits overflow.
    if (offset > Limits::local_bytes * 2) return offset;
  }
  return offset;
}

VirtualFunction decode_function(ModuleScope& scope, std::uint32_t ast_index) {
  return FunctionDecoder(scope, ast_index).run();
}

FunctionDecoder::FunctionDecoder(ModuleScope& scope, std::uint32_t ast_index)
    : scope_(scope), ast_(scope.ast->functions[ast_index]), ast_index_(ast_index) {}

VirtualFunction FunctionDecoder::run() {
  Function& fn = out_.fn;
  fn.name = ast_.name;
  fn.is_entry = ast_.is_entry;
  fn.line = ast_.at.line;
  for (unsigned i = 0; i < 3; ++i) {
    fn.max_ntid[i] = ast_.max_ntid[i];
    fn.req_ntid[i] = ast_.req_ntid[i];
  }
  fn.ntid_line = ast_.ntid_at.line;
  fn.ntid_column = ast_.ntid_at.column;
  for (unsigned i = 0; i < 3; ++i) fn.req_cluster[i] = ast_.req_cluster[i];
  fn.max_cluster_rank = ast_.max_cluster_rank;
  fn.explicit_cluster = ast_.explicit_cluster;
  fn.max_nreg = ast_.max_nreg;
  fn.min_nctapersm = ast_.min_nctapersm;
  out_.registers.reserve(ast_.registers.size());
  for (const AstRegister& r : ast_.registers) out_.registers.push_back(r.type);
  for (std::uint32_t i = 0; i < ast_.labels.size(); ++i) {
    const AstLabel& label = ast_.labels[i];
    const auto [it, fresh] = labels_.try_emplace({label.scope, label.name}, i);
    if (!fresh)
      scope_.source->fail(label.at, "ptx-redefined",
                          fmt::format("label '{}' is defined twice in this scope; the first is on line {}",
                                      label.name.substr(0, 64), ast_.labels[it->second].at.line));
  }
  for (std::uint32_t i = 0; i < ast_.tables.size(); ++i)
    tables_.try_emplace({ast_.tables[i].scope, ast_.tables[i].name}, i);
  lay_out_frame();
  fn.code.reserve(ast_.code.size() + 1);
  pc_of_.reserve(ast_.code.size() + 1);
  for (const AstInst& inst : ast_.code) {
    pc_of_.push_back(static_cast<std::uint32_t>(fn.code.size()));
    instruction(inst);
  }
  pc_of_.push_back(static_cast<std::uint32_t>(fn.code.size()));
  finish_code();
  resolve_branches();
  for (std::vector<std::uint32_t>* list : {&out_.callees, &out_.addresses_taken}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  return std::move(out_);
}

// Kernel parameters have their own block; everything else lives in the frame: formals of functions first
// (returns, then parameters, so that functions of one prototype agree), then .local variables and .param
// variables of call sites.
void FunctionDecoder::lay_out_frame() {
  Function& fn = out_.fn;
  const AstSignature& s = ast_.signature;
  std::uint64_t frame = 0;
  if (ast_.is_entry) {
    const std::uint64_t bytes = place_formals(s.params, 0, fn.params);
    if (bytes > Limits::param_bytes)
      scope_.source->fail(ast_.at, "ptx-limit",
                          fmt::format("parameters of kernel '{}' need {} bytes; the limit is {}",
                                      fn.name.substr(0, 64), bytes, Limits::param_bytes));
    fn.param_bytes = static_cast<std::uint32_t>(bytes);
    for (const Param& p : fn.params) offset_.push_back(p.offset);
  } else {
    frame = place_formals(s.params, place_formals(s.returns, 0, fn.returns), fn.params);
    for (const Param& p : fn.returns) offset_.push_back(p.offset);
    for (const Param& p : fn.params) offset_.push_back(p.offset);
    offset_.resize(s.returns.size() + s.params.size(), 0);
    for (const auto* list : {&s.returns, &s.params})
      for (const AstVariable& v : *list) out_.frame_align = std::max(out_.frame_align, v.align);
  }
  for (std::size_t i = offset_.size(); i < ast_.variables.size(); ++i) {
    const AstVariable& v = ast_.variables[i];
    if (v.space != Space::local && v.space != Space::param) {
      offset_.push_back(0);
      continue;
    }
    frame = round_up(frame, v.align);
    offset_.push_back(frame);
    out_.frame_align = std::max(out_.frame_align, v.align);
    frame += std::min(v.bytes, Limits::local_bytes + 1);
    if (frame > Limits::local_bytes) break;
  }
  if (frame > Limits::local_bytes)
    scope_.source->fail(ast_.at, "ptx-limit",
                        fmt::format("local memory of '{}' needs more than the limit of {} bytes per thread",
                                    fn.name.substr(0, 64), Limits::local_bytes));
  fn.frame_bytes = static_cast<std::uint32_t>(frame);
  if (ast_.is_entry) return;
  // Formals in .reg space arrive in the frame as all others do.
  for (std::size_t i = s.returns.size(); i < s.returns.size() + s.params.size(); ++i) {
    const AstVariable& v = ast_.variables[i];
    if (v.reg == no_index) continue;
    Inst load = plain(Inst{}, Op::ld, OpClass::load, v.type);
    load.mods.space = Space::local;
    load.frame_relative = true;
    Operand d;
    d.kind = OperandKind::reg;
    d.bytes = static_cast<std::uint8_t>(size_of(v.type));
    d.index = v.reg;
    add_dst(load, d);
    add_src(load, constant(offset_[i], 8));
    load.line = v.at.line;
    load.column = v.at.column;
    emit(load);
  }
}

Inst FunctionDecoder::plain(const Inst& like, Op op, OpClass c, Type type) const {
  Inst inst;
  inst.op = op;
  inst.op_class = c;
  inst.type = type;
  inst.line = like.line;
  inst.column = like.column;
  inst.file = like.file;
  inst.source_line = like.source_line;
  return inst;
}

Inst FunctionDecoder::begin(const AstInst& ast, const Match& match) const {
  Inst inst;
  inst.op = match.op;
  inst.op_class = match.op_class;
  inst.type = match.type;
  inst.stype = match.stype;
  inst.mods = match.mods;
  inst.line = ast.at.line;
  inst.column = ast.at.column;
  inst.file = ast.file;
  inst.source_line = ast.source_line;
  if (ast.guard != no_index) {
    inst.guard.kind = OperandKind::pred;
    inst.guard.index = ast.guard;
    inst.guard.negated = ast.guard_negated;
  }
  return inst;
}

void FunctionDecoder::emit(Inst inst) {
  if (out_.fn.code.size() >= Limits::instructions)
    fail_here(fmt::format("function has more than {} instructions", Limits::instructions));
  out_.fn.code.push_back(inst);
}

void FunctionDecoder::instruction(const AstInst& ast) {
  current_ = &ast;
  const OpcodeMatcher::Result& found = scope_.matcher.find(ast.opcode);
  if (!found.match) {
    scope_.report(ast.at, found.problem, found.hint);
    Inst trap = plain(Inst{}, Op::trap, OpClass::control, Type::none);
    trap.line = ast.at.line;
    trap.column = ast.at.column;
    return emit(trap);
  }
  const Match& match = *found.match;
  args_.top.clear();
  const AstOperand* o = ast_.operands.data() + ast.first;
  for (std::uint32_t i = 0; i < ast.count; ++i, o += o->span) args_.top.push_back(o);
  Inst inst = begin(ast, match);
  if (match.family.empty())
    signature(inst, match);
  else if (match.family == "ld")
    load(inst, match);
  else if (match.family == "st")
    store(inst, match);
  else if (match.family == "mov")
    move(inst);
  else if (match.family == "cvta")
    convert_address(inst);
  else if (match.family == "atom" || match.family == "red")
    atomic(inst, match, match.family == "atom");
  else if (match.family == "bra")
    branch();
  else if (match.family == "brx")
    branch_indexed(inst);
  else if (match.family == "call")
    return call(inst);
  else if (match.family == "bar")
    barrier(inst);
  else if (match.family == "cp_async")
    copy_async(inst, match);
  else if (match.family == "tex")
    texture(inst);
  else if (match.family == "video")
    video(inst);
  else if (match.family == "policy")
    policy(inst);
  else if (mbarrier(inst, match) || cluster(inst, match))
    return;
  else
    SIMTLAB_ASSERT(match.family == "hint", "every family of the opcode table has a decoder");
  // The space may be known better now than from the opcode.
  if (inst.op == Op::ld || inst.op == Op::ldu || inst.op == Op::st || inst.op == Op::atom ||
      inst.op == Op::red)
    inst.op_class = class_of(match.form->rule, inst.type, inst.stype, inst.mods);
  if (inst.op == Op::ret) return return_(inst);
  emit(inst);
}

Type FunctionDecoder::spec_type(const Inst& inst, const OperandSpec& spec) const {
  using What = OperandSpec::What;
  switch (spec.what) {
    case What::type: return inst.type;
    case What::stype: return inst.stype;
    case What::fixed: return spec.fixed;
    case What::value_pred: return spec.fixed == Type::none ? inst.type : spec.fixed;
    case What::wide:
      switch (inst.type) {
        case Type::u16: return Type::u32;
        case Type::s16: return Type::s32;
        case Type::u32: return Type::u64;
        default: return Type::s64;
      }
    case What::pred:
    case What::pred_pair: return Type::pred;
    case What::address:
    case What::constant: break;
  }
  return Type::none;
}

void FunctionDecoder::apply_spec(Inst& inst, const OperandSpec& spec, const AstOperand& o) {
  using What = OperandSpec::What;
  const Type type = spec_type(inst, spec);
  if (spec.what == What::address) return add_src(inst, address(inst, o, inst.imm_offset));
  if (spec.what == What::constant) {
    const std::uint64_t limit = inst.op == Op::lop3 ? 255 : 0xffffffffu;
    const std::uint64_t value = integer_constant(o, "this operand", limit);
    if (inst.op == Op::lop3)
      inst.mods.lut = static_cast<std::uint8_t>(value);
    else
      add_src(inst, constant(value, 4));
    return;
  }
  if (spec.result && (spec.what == What::pred_pair || spec.what == What::value_pred)) {
    const bool pair = o.kind == Kind::pair;
    const AstOperand& first = pair ? child(o, 0) : o;
    add_dst(inst, spec.what == What::pred_pair ? predicate_result(first) : result(first, type));
    if (pair) add_dst(inst, predicate_result(child(o, 1)));
    return;
  }
  if (o.kind == Kind::pair) fail(o, "only one result is possible here");
  if (type == Type::pred)
    return spec.result ? add_dst(inst, predicate_result(o)) : add_src(inst, predicate(o));
  if (spec.result) return add_dst(inst, result(o, type, spec.relaxed));
  // An integer register narrower than the result of isspacep's 64-bit address never occurs in 64-bit code.
  add_src(inst, source(o, type, spec.relaxed));
}

void FunctionDecoder::signature(Inst& inst, const Match& match) {
  const std::vector<OperandSpec>& specs = *match.operands;
  expect_count(specs.size(), specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) apply_spec(inst, specs[i], arg(i));
  if (inst.op == Op::mul && inst.mods.mul == MulMode::wide) return;
}

void FunctionDecoder::policy(Inst& inst) {
  if (args_.top.empty()) fail_here("createpolicy needs a 64-bit register for its result");
  inst.type = Type::b64;
  inst.mods = Mods{};
  add_dst(inst, result(arg(0), Type::b64));
  add_src(inst, constant(0, 8));
}

void FunctionDecoder::finish_code() {
  std::vector<Inst>& code = out_.fn.code;
  const std::uint32_t end = pc_of_.back();
  bool target_at_end = false;
  for (const AstLabel& label : ast_.labels) target_at_end = target_at_end || pc_of_[label.inst] == end;
  const bool ends = !code.empty() && (code.back().op == Op::ret || code.back().op == Op::exit) &&
                    code.back().guard.kind == OperandKind::none;
  if (ends && !target_at_end) return;
  Inst ret = plain(code.empty() ? Inst{} : code.back(), Op::ret, OpClass::control, Type::none);
  return_(ret);
}

void FunctionDecoder::resolve_branches() {
  for (const Pending& p : branches_) out_.fn.code[p.pc].target = pc_of_[ast_.labels[p.label].inst];
  for (const std::vector<std::uint32_t>& labels : table_labels_) {
    std::vector<std::uint32_t> pcs;
    pcs.reserve(labels.size());
    for (const std::uint32_t label : labels) pcs.push_back(pc_of_[ast_.labels[label].inst]);
    out_.fn.branch_tables.push_back(std::move(pcs));
  }
}

}  // namespace simtlab::ptx
