// Branches, barriers, calls.
#include <fmt/format.h>

#include <algorithm>

#include "ptx/decode.h"

namespace simtlab::ptx {

// Why a function that is only declared can't be called.
std::string_view hint_for_undefined(std::string_view name) {
  static constexpr std::string_view runtime[] = {"vprintf", "__assertfail", "__assert_fail",
                                                 "printf",  "memcpy",       "memset"};
  if (name.starts_with("__nv_"))
    return "link the device mathematics library (the front end does it when it compiles the program)";
  const bool known = std::find(std::begin(runtime), std::end(runtime), name) != std::end(runtime);
  if (known || name.starts_with("cuda") || name.starts_with("__cuda"))
    return "launches from kernels and other device run-time calls are not supported";
  return "the function is in another file, and linking of device code (-rdc=true) is not supported: put it "
         "into the same file";
}

// A label of the scope or of one around it.
std::uint32_t FunctionDecoder::find_label(std::string_view name, std::uint32_t scope) const {
  for (; scope != no_index; scope = ast_.scope_parent[scope])
    if (const auto it = labels_.find({scope, name}); it != labels_.end()) return it->second;
  return no_index;
}

const AstTable* FunctionDecoder::find_table(std::string_view name) const {
  for (std::uint32_t scope = current_->scope; scope != no_index; scope = ast_.scope_parent[scope])
    if (const auto it = tables_.find({scope, name}); it != tables_.end()) return &ast_.tables[it->second];
  return nullptr;
}

void FunctionDecoder::branch() {
  expect_count(1, 1);
  const AstOperand& target = arg(0);
  if (target.kind != Kind::symbol) fail(target, "a label is needed here");
  const std::uint32_t label = find_label(target.text, current_->scope);
  if (label == no_index)
    scope_.source->fail(target.at, "ptx-undeclared",
                        fmt::format("label '{}' is not defined in this function", target.text.substr(0, 64)));
  branches_.push_back({static_cast<std::uint32_t>(out_.fn.code.size()), label});
}

void FunctionDecoder::branch_indexed(Inst& inst) {
  expect_count(2, 2);
  add_src(inst, source(arg(0), Type::u32));
  const AstOperand& name = arg(1);
  const AstTable* table = name.kind == Kind::symbol ? find_table(name.text) : nullptr;
  if (table == nullptr || table->kind != AstTable::Kind::branch)
    fail(name, "a label of .branchtargets is needed here");
  // Branches through one table share its list.
  const auto [known, fresh] =
      table_index_.try_emplace(table, static_cast<std::uint32_t>(table_labels_.size()));
  inst.target = known->second;
  if (!fresh) return;
  std::vector<std::uint32_t> labels;
  for (const AstOperand& target : table->targets) {
    const std::uint32_t label = find_label(target.text, table->scope);
    if (label == no_index)
      scope_.source->fail(
          target.at, "ptx-undeclared",
          fmt::format("label '{}' is not defined in this function", target.text.substr(0, 64)));
    labels.push_back(label);
  }
  table_labels_.push_back(std::move(labels));
}

// bar.sync a [, b]; bar.arrive a, b; bar.red.popc.u32 d, a [, b], p; bar.red.and.pred p, a [, b], p
void FunctionDecoder::barrier(Inst& inst) {
  const BarMode mode = inst.mods.bar;
  const bool reduce = mode == BarMode::red_popc || mode == BarMode::red_and || mode == BarMode::red_or;
  std::size_t i = 0, n = args_.top.size();
  if (reduce) {
    expect_count(3, 4);
    if (mode == BarMode::red_popc)
      add_dst(inst, result(arg(i++), Type::u32));
    else
      add_dst(inst, predicate_result(arg(i++)));
    --n;  // the predicate at the end
  } else if (mode == BarMode::arrive) {
    expect_count(2, 2);
  } else {
    expect_count(1, 2);
  }
  const AstOperand& number = arg(i);
  if (number.kind == Kind::integer) {
    const std::uint64_t barrier = integer_constant(number, "the barrier", 15);
    out_.fn.barriers = std::max(out_.fn.barriers, static_cast<std::uint32_t>(barrier + 1));
  } else {
    out_.fn.barriers = 16;
  }
  add_src(inst, source(arg(i++), Type::u32));
  if (i < n)
    add_src(inst, source(arg(i++), Type::u32));
  else if (reduce)
    add_src(inst, Operand{});
  if (reduce) add_src(inst, predicate(arg(i)));
}

// Copies results kept in .reg formals to the frame, then returns.
void FunctionDecoder::return_(Inst& inst) {
  if (!ast_.is_entry) {
    for (std::size_t i = 0; i < ast_.signature.returns.size(); ++i) {
      const AstVariable& v = ast_.variables[i];
      if (v.reg == no_index) continue;
      Inst store = plain(inst, Op::st, OpClass::store, v.type);
      store.guard = inst.guard;
      store.mods.space = Space::local;
      store.frame_relative = true;
      Operand value;
      value.kind = OperandKind::reg;
      value.bytes = static_cast<std::uint8_t>(size_of(v.type));
      value.index = v.reg;
      add_src(store, constant(offset_[i], 8));
      add_src(store, value);
      emit(store);
    }
  }
  emit(inst);
}

// call [(results),] target [, (arguments)] [, prototype or target list]
void FunctionDecoder::call(Inst& inst) {
  std::size_t i = 0;
  const std::size_t n = args_.top.size();
  const AstOperand* returns = nullptr;
  const AstOperand* params = nullptr;
  const AstOperand* table = nullptr;
  if (i < n && arg(i).kind == Kind::list) returns = &arg(i++);
  if (i >= n) fail_here("call needs a function");
  const AstOperand& target = arg(i++);
  if (i < n && arg(i).kind == Kind::list) params = &arg(i++);
  if (i < n) table = &arg(i++);
  if (i < n) fail(arg(i), "call has too many operands");
  if (target.kind == Kind::symbol) return call_direct(inst, target.text, target, returns, params);
  if (target.kind != Kind::reg) fail(target, "the name of a function or a register is needed here");
  call_indirect(inst, target, returns, params, table);
}

void FunctionDecoder::call_direct(Inst& inst, std::string_view name, const AstOperand& at,
                                  const AstOperand* returns, const AstOperand* params) {
  const auto f = scope_.functions.find(name);
  if (f == scope_.functions.end()) {
    if (call_builtin(inst, name, returns, params)) return;
    if (!scope_.ast->function_index.contains(name))
      scope_.source->fail(at.at, "ptx-undeclared",
                          fmt::format("function '{}' is not declared", name.substr(0, 256)));
    scope_.report(at.at, fmt::format("call of '{}', which the module does not define", name.substr(0, 256)),
                  std::string(hint_for_undefined(name)));
    return emit(plain(inst, Op::trap, OpClass::control, Type::none));
  }
  // Functions of Module have the order of the definitions; formals are laid out as decode does for the
  // callee.
  const AstFunction& callee =
      scope_.ast->functions[scope_.ast->function_index.at(scope_.module->functions[f->second].name)];
  if (callee.is_entry) fail(at, "a kernel can't be called");
  CallSite site;
  site.function = f->second;
  std::vector<Param> result_formals, formals;
  place_formals(callee.signature.params, place_formals(callee.signature.returns, 0, result_formals), formals);
  bind_arguments(site, result_formals, returns, true);
  bind_arguments(site, formals, params, false);
  out_.callees.push_back(f->second);
  inst.target = static_cast<std::uint32_t>(out_.fn.call_sites.size());
  out_.fn.call_sites.push_back(std::move(site));
  emit(inst);
}

void FunctionDecoder::call_indirect(Inst& inst, const AstOperand& pointer, const AstOperand* returns,
                                    const AstOperand* params, const AstOperand* table_name) {
  CallSite site;
  site.indirect = true;
  site.pointer = reg_operand(pointer, Type::b64, false);
  VirtualFunction::Indirect indirect;
  indirect.site = static_cast<std::uint32_t>(out_.fn.call_sites.size());
  const AstTable* table = nullptr;
  if (table_name != nullptr) {
    if (table_name->kind != Kind::symbol)
      fail(*table_name, "a .callprototype or .calltargets label is needed here");
    table = find_table(table_name->text);
    if (table == nullptr || table->kind == AstTable::Kind::branch)
      fail(*table_name,
           fmt::format("'{}' is no .callprototype or .calltargets label", table_name->text.substr(0, 64)));
  }
  if (table == nullptr)
    fail(pointer, "an indirect call needs a .callprototype or .calltargets label",
         "write call (result), %register, (arguments), prototype;");
  if (table->kind == AstTable::Kind::prototype) {
    indirect.prototype = table->prototype;
  } else {
    for (const AstOperand& target : table->targets) {
      const auto f = scope_.functions.find(target.text);
      if (f == scope_.functions.end())
        scope_.source->fail(target.at, "ptx-undeclared",
                            fmt::format("function '{}' is not defined", target.text.substr(0, 256)));
      indirect.targets.push_back(f->second);
    }
    indirect.prototype = scope_.ast
                             ->functions[scope_.ast->function_index.at(
                                 scope_.module->functions[indirect.targets.front()].name)]
                             .signature;
  }
  std::vector<Param> result_formals, formals;
  const std::uint64_t bytes = place_formals(
      indirect.prototype.params, place_formals(indirect.prototype.returns, 0, result_formals), formals);
  if (bytes > Limits::local_bytes) fail(pointer, "the arguments of this call are too large");
  bind_arguments(site, result_formals, returns, true);
  bind_arguments(site, formals, params, false);
  inst.target = indirect.site;
  out_.indirect.push_back(std::move(indirect));
  out_.fn.call_sites.push_back(std::move(site));
  emit(inst);
}

void FunctionDecoder::bind_arguments(CallSite& site, const std::vector<Param>& formals,
                                     const AstOperand* list, bool returns) {
  const std::size_t given = list == nullptr ? 0 : list->children;
  if (given != formals.size())
    fail_here(fmt::format("the function has {} {}{}, the call gives {}", formals.size(),
                          returns ? "result" : "parameter", formals.size() == 1 ? "" : "s", given));
  for (std::size_t i = 0; i < given; ++i) {
    const AstOperand& o = child(*list, i);
    const Param& formal = formals[i];
    CallArg arg;
    arg.callee_offset = formal.offset;
    arg.bytes = formal.bytes;
    if (o.kind == Kind::local_var) {
      const AstVariable& v = ast_.variables[o.index];
      const bool kernel_param = ast_.is_entry && o.index < ast_.signature.params.size();
      if ((v.space != Space::param && v.space != Space::local) || kernel_param)
        fail(o, "an argument is a .param variable, a register or a constant");
      if (v.bytes != formal.bytes)
        fail(o, fmt::format("'{}' has {} bytes, the {} has {}", o.text.substr(0, 64), v.bytes,
                            returns ? "result" : "parameter", formal.bytes));
      arg.caller_offset = static_cast<std::uint32_t>(offset_[o.index]);
    } else {
      const Type type = formal.bytes == size_of(formal.type) ? formal.type : Type::none;
      if (type == Type::none) fail(o, "an array can only be passed in a .param variable");
      arg.reg = returns ? result(o, type) : source(o, type);
    }
    (returns ? site.returns : site.args).push_back(arg);
  }
}

// vprintf, __assertfail, malloc and free are instructions of ours: their arguments are loaded from the .param
// variables in front.
bool FunctionDecoder::call_builtin(Inst& inst, std::string_view name, const AstOperand* returns,
                                   const AstOperand* params) {
  struct Builtin {
    std::string_view name;
    Op op;
    std::vector<Type> params;
    Type result;
  };
  static const Builtin builtins[] = {
      {"vprintf", Op::vprintf, {Type::b64, Type::b64}, Type::b32},
      {"malloc", Op::heap_alloc, {Type::b64}, Type::b64},
      {"free", Op::heap_free, {Type::b64}, Type::none},
      {"__assertfail", Op::assertfail, {Type::b64, Type::b64, Type::b32, Type::b64, Type::b64}, Type::none},
  };
  const Builtin* found = nullptr;
  for (const Builtin& b : builtins)
    if (b.name == name) found = &b;
  if (found == nullptr) return false;
  if (params == nullptr || params->children != found->params.size())
    fail_here(fmt::format("'{}' takes {} arguments", name, found->params.size()));
  inst.op = found->op;
  inst.op_class = OpClass::control;
  auto access = [&](Op op, const AstOperand& o, Operand reg, Type type) {
    Inst mem = plain(inst, op, op == Op::ld ? OpClass::load : OpClass::store, type);
    mem.guard = inst.guard;
    mem.mods.space = Space::local;
    mem.frame_relative = true;
    if (op == Op::ld) add_dst(mem, reg);
    add_src(mem, constant(offset_[o.index], 8));
    if (op == Op::st) add_src(mem, reg);
    emit(mem);
  };
  auto is_param = [&](const AstOperand& o) {
    return o.kind == Kind::local_var && ast_.variables[o.index].space == Space::param &&
           !(ast_.is_entry && o.index < ast_.signature.params.size());
  };
  for (std::size_t i = 0; i < found->params.size(); ++i) {
    const AstOperand& o = child(*params, i);
    if (!is_param(o)) {
      add_src(inst, source(o, found->params[i]));
      continue;
    }
    const Operand reg = new_reg(found->params[i]);
    access(Op::ld, o, reg, found->params[i]);
    add_src(inst, reg);
  }
  if (returns == nullptr || returns->children == 0) {
    if (found->result != Type::none) add_dst(inst, new_reg(found->result));
    emit(inst);
    return true;
  }
  if (found->result == Type::none || returns->children != 1)
    fail_here(fmt::format("'{}' does not return that many results", name));
  const AstOperand& r = child(*returns, 0);
  const Operand reg = is_param(r) ? new_reg(found->result) : result(r, found->result);
  add_dst(inst, reg);
  emit(inst);
  if (is_param(r)) access(Op::st, r, reg, found->result);
  return true;
}

}  // namespace simtlab::ptx
