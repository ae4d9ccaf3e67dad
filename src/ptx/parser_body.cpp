// Function bodies: scopes, labels, instructions.
#include <fmt/format.h>

#include "ptx/parser.h"

namespace simtlab::ptx {

std::uint32_t Parser::new_register(Type type) {
  if (function_->registers.size() >= Limits::registers)
    fail(lexer_.peek().at, fmt::format("function has more than {} registers", Limits::registers), {},
         "ptx-limit");
  function_->registers.push_back({type});
  return static_cast<std::uint32_t>(function_->registers.size() - 1);
}

void Parser::declare(std::string_view name, Name what, Place at) {
  if (name == "_") fail(at, "'_' is not a name");
  if (!scopes_.back().names.try_emplace(name, what).second)
    fail(at, fmt::format("'{}' is declared twice in this scope", name.substr(0, 64)), {}, "ptx-redefined");
}

// A name of this scope: declared as it is, or a member of a family (%r57 of %r<100>), which gets its register
// now.
const Parser::Name* Parser::lookup_in(Scope& scope, std::string_view name) {
  if (const auto it = scope.names.find(name); it != scope.names.end()) return &it->second;
  if (scope.families.empty()) return nullptr;
  std::uint64_t number = 0, weight = 1;
  for (std::size_t split = name.size(); split > 1 && name.size() - split < 10;) {
    const char c = name[--split];
    if (c < '0' || c > '9') break;
    number += weight * static_cast<std::uint64_t>(c - '0');
    weight *= 10;
    if (c == '0' && split + 1 != name.size()) continue;  // %r007 is not %r7
    const auto family = scope.families.find(name.substr(0, split));
    if (family == scope.families.end() || number >= family->second.count) continue;
    const Family& f = family->second;
    const std::uint32_t first = new_register(f.type);
    for (std::uint8_t i = 1; i < f.lanes; ++i) new_register(f.type);
    const Name made{f.lanes > 1 ? Name::Kind::vector_reg : Name::Kind::reg, first, f.lanes};
    return &scope.names.emplace(name, made).first->second;
  }
  return nullptr;
}

const Parser::Name* Parser::lookup(std::string_view name) {
  for (std::size_t i = scopes_.size(); i-- > 0;)
    if (const Name* found = lookup_in(scopes_[i], name)) return found;
  return nullptr;
}

void Parser::body(AstFunction& f) {
  function_ = &f;
  file_ = source_line_ = 0;
  scopes_.clear();
  scopes_.emplace_back();
  f.scope_parent.push_back(no_index);
  for (std::vector<AstVariable>* list : {&f.signature.returns, &f.signature.params}) {
    for (AstVariable& v : *list) {
      if (v.space == Space::reg) {
        if (f.is_entry) fail(v.at, "parameters of a kernel must be in .param space");
        v.reg = new_register(v.type);
        declare(v.name, Name{Name::Kind::reg, v.reg, 1}, v.at);
      } else {
        declare(v.name, Name{Name::Kind::variable, static_cast<std::uint32_t>(f.variables.size()), 1}, v.at);
      }
      f.variables.push_back(v);
    }
  }
  const Token open = lexer_.next();
  while (!scopes_.empty()) {
    if (lexer_.peek().kind == Token::Kind::end)
      fail(lexer_.peek().at,
           fmt::format("the body of '{}' is never closed; it starts on line {}", f.name.substr(0, 64),
                       open.at.line),
           "is the file truncated?");
    statement();
  }
  function_ = nullptr;
}

void Parser::statement() {
  const Token& t = lexer_.peek();
  if (t.is('{')) {
    if (scopes_.size() >= Limits::nesting)
      fail(t.at, fmt::format("scopes are nested deeper than {} levels", Limits::nesting), {}, "ptx-limit");
    lexer_.next();
    const std::uint32_t parent = scopes_.back().id;
    scopes_.emplace_back();
    scopes_.back().id = static_cast<std::uint32_t>(function_->scope_parent.size());
    function_->scope_parent.push_back(parent);
    return;
  }
  if (t.is('}')) {
    lexer_.next();
    scopes_.pop_back();
    return;
  }
  if (t.is(';')) return void(lexer_.next());
  if (t.is("@@")) return lexer_.skip_line();
  if (t.kind == Token::Kind::dotted) {
    const std::string_view d = t.text;
    if (d == ".loc") return loc_directive();
    if (d == ".file") return file_directive(true);
    if (d == ".section") return section_directive();
    if (d == ".pragma") {
      lexer_.next();
      do lexer_.next();
      while (accept(','));
      expect(';', "after .pragma");
      return;
    }
    const Token directive = lexer_.next();
    if (d == ".reg") return reg_declaration();
    if (d == ".local") return function_variable(Space::local);
    if (d == ".shared" || d == ".shared::cta") return function_variable(Space::shared);
    if (d == ".param") return function_variable(Space::param);
    if (d == ".global") return function_variable(Space::global);
    if (d == ".const") return function_variable(Space::constant);
    if (d == ".branchtargets" || d == ".calltargets" || d == ".callprototype")
      fail(directive.at, fmt::format("{} needs a label before it", d));
    fail(directive.at, fmt::format("unknown directive {} in a function", shown(directive)));
  }
  if (t.is('@')) return instruction();
  if (t.kind == Token::Kind::identifier) {
    if (lexer_.peek2().is(':')) {
      const Token name = lexer_.next();
      lexer_.next();
      return label(name);
    }
    return instruction();
  }
  fail(t.at, fmt::format("expected an instruction, found {}", shown(t)));
}

void Parser::label(const Token& name) {
  const Token& t = lexer_.peek();
  if (t.is(".branchtargets") || t.is(".calltargets") || t.is(".callprototype")) return table_directive(name);
  if (function_->labels.size() >= Limits::labels)
    fail(name.at, fmt::format("function has more than {} labels", Limits::labels), {}, "ptx-limit");
  function_->labels.push_back(
      {name.text, scopes_.back().id, static_cast<std::uint32_t>(function_->code.size()), name.at});
}

void Parser::table_directive(const Token& name) {
  AstTable table;
  table.name = name.text;
  table.scope = scopes_.back().id;
  table.at = name.at;
  const Token directive = lexer_.next();
  if (directive.text == ".callprototype") {
    table.kind = AstTable::Kind::prototype;
    if (lexer_.peek().is('(')) table.prototype.returns = formals(true);
    expect_identifier("'_' in .callprototype");
    if (lexer_.peek().is('(')) table.prototype.params = formals(true);
    while (lexer_.peek().kind == Token::Kind::dotted) {
      if (accept(".noreturn"))
        table.prototype.noreturn = true;
      else if (accept(".abi_preserve") || accept(".abi_preserve_control"))
        integer_expression("a number");
      else
        fail(lexer_.peek().at, fmt::format("unknown directive {} in .callprototype", shown(lexer_.peek())));
    }
  } else {
    table.kind = directive.text == ".branchtargets" ? AstTable::Kind::branch : AstTable::Kind::call;
    do {
      const Token target = expect_identifier("a name");
      if (++target_count_ > Limits::labels)
        fail(target.at, fmt::format("module has more than {} branch and call targets", Limits::labels), {},
             "ptx-limit");
      AstOperand o;
      o.kind = AstOperand::Kind::symbol;
      o.text = target.text;
      o.at = target.at;
      table.targets.push_back(o);
    } while (accept(','));
  }
  expect(';', fmt::format("after {}", directive.text));
  function_->tables.push_back(std::move(table));
}

// The opcode with all its modifiers; they are contiguous in every text that a compiler writes.
std::string_view Parser::opcode_text(const Token& first, std::uint32_t& mods) {
  std::uint32_t end = first.at.offset + static_cast<std::uint32_t>(first.text.size());
  mods = 0;
  while (lexer_.peek().kind == Token::Kind::dotted) {
    const Token& t = lexer_.peek();
    if (t.at.offset != end)
      fail(t.at, fmt::format("unexpected {} after '{}'", shown(t), first.text.substr(0, 64)),
           "write the modifiers of an instruction without blanks");
    end = t.at.offset + static_cast<std::uint32_t>(t.text.size());
    ++mods;
    lexer_.next();
  }
  return source_.text().substr(first.at.offset, end - first.at.offset);
}

void Parser::instruction() {
  AstInst inst;
  inst.scope = scopes_.back().id;
  inst.file = file_;
  inst.source_line = source_line_;
  if (accept('@')) {
    inst.guard_negated = accept('!');
    const Token guard = expect_identifier("a predicate register after '@'");
    const Name* name = lookup(guard.text);
    if (name == nullptr || name->kind != Name::Kind::reg ||
        function_->registers[name->index].type != Type::pred)
      fail(guard.at, fmt::format("{} is not a predicate register", shown(guard)), {}, "ptx-operand");
    inst.guard = name->index;
  }
  const Token first = expect_identifier("an opcode");
  inst.at = first.at;
  std::uint32_t mods = 0;
  inst.opcode = opcode_text(first, mods);
  const bool call = first.text == "call";
  inst.first = static_cast<std::uint32_t>(function_->operands.size());
  if (!lexer_.peek().is(';')) {
    do {
      if (inst.count >= 64) fail(lexer_.peek().at, "instruction has more than 64 operands", {}, "ptx-limit");
      operand(call, 0);
      ++inst.count;
    } while (accept(','));
  }
  if (!lexer_.peek().is(';')) {
    const bool no_mods = mods == 0 && inst.count == 0;
    fail(lexer_.peek().at,
         fmt::format("expected ';' after '{}', found {}", inst.opcode.substr(0, 64), shown(lexer_.peek())),
         no_mods ? "an instruction is an opcode with modifiers, operands and ';'"
                 : "is a ';' or ',' missing?");
  }
  lexer_.next();
  if (++instruction_count_ > Limits::instructions)
    fail(inst.at, fmt::format("module has more than {} instructions", Limits::instructions), {}, "ptx-limit");
  function_->code.push_back(inst);
}

}  // namespace simtlab::ptx
