// Module level: directives, functions and their signatures.
#include "ptx/parser.h"

#include <fmt/format.h>

#include <utility>

namespace simtlab::ptx {

AstModule parse(const Source& source) {
  if (source.text().size() > Limits::text_bytes)
    throw Error(ExitCode::bad_input, "ptx-limit",
                fmt::format("{}: text of {} bytes; the limit is {} MiB", source.name(), source.text().size(),
                            Limits::text_bytes >> 20));
  AstModule module;
  Parser parser(source, module);
  parser.run();
  return module;
}

void Parser::fail(Place at, std::string message, std::string hint, std::string id) const {
  source_.fail(at, std::move(id), std::move(message), std::move(hint));
}

void Parser::unsupported(Place at, std::string message, std::string hint) {
  if (module_.unsupported.size() < Limits::diagnostics)
    module_.unsupported.push_back(source_.diagnostic(at, std::move(message), std::move(hint)));
}

std::string Parser::shown(const Token& t) const {
  if (t.kind == Token::Kind::end) return "the end of the file";
  return fmt::format("'{}'", t.text.substr(0, 64));
}

Token Parser::expect(char c, std::string_view where) {
  if (!lexer_.peek().is(c))
    fail(lexer_.peek().at, fmt::format("expected '{}' {}, found {}", c, where, shown(lexer_.peek())));
  return lexer_.next();
}

bool Parser::accept(char c) {
  if (!lexer_.peek().is(c)) return false;
  lexer_.next();
  return true;
}

bool Parser::accept(std::string_view s) {
  if (!lexer_.peek().is(s)) return false;
  lexer_.next();
  return true;
}

Token Parser::expect_identifier(std::string_view what) {
  if (lexer_.peek().kind != Token::Kind::identifier)
    fail(lexer_.peek().at, fmt::format("expected {}, found {}", what, shown(lexer_.peek())));
  return lexer_.next();
}

void Parser::run() {
  if (lexer_.peek().kind == Token::Kind::end)
    fail(lexer_.peek().at,
         lexer_.peek().at.line == 1 && lexer_.peek().at.column == 1
             ? "the text is empty"
             : "there is no code: nothing but blanks, comments or NUL bytes",
         "a PTX module starts with .version");
  while (lexer_.peek().is("@@")) lexer_.skip_line();
  if (!lexer_.peek().is(".version"))
    fail(lexer_.peek().at, fmt::format("this is not PTX: expected .version, found {}", shown(lexer_.peek())),
         "a PTX module starts with .version, e.g. '.version 7.8'");
  while (lexer_.peek().kind != Token::Kind::end) directive();
  need_target();
}

// The architecture comes before everything that is code or data.
void Parser::need_target() {
  if (!module_.target.empty()) return;
  fail(lexer_.peek().at, fmt::format("expected .target, found {}", shown(lexer_.peek())),
       "a PTX module starts with .version and .target, e.g. '.target sm_70'");
}

// MAJOR.MINOR. What the number says never decides whether a module is accepted.
void Parser::version_directive() {
  const Place at = lexer_.next().at;
  if (!module_.version.empty()) fail(at, "a second .version: a module has one", {}, "ptx-redefined");
  const Token number = lexer_.next();
  const std::size_t point = number.text.find('.');
  auto digits = [](std::string_view s) {
    return !s.empty() && s.size() <= 2 && s.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (number.kind != Token::Kind::float64 || point == std::string_view::npos || number.text[0] == '0' ||
      !digits(number.text.substr(0, point)) || !digits(number.text.substr(point + 1)))
    fail(number.at, fmt::format("expected a version such as 7.8, found {}", shown(number)));
  module_.version = number.text;
}

// .target sm_90a, texmode_independent. Later directives may add options and architectures; the highest is
// what the module needs.
void Parser::target_directive() {
  lexer_.next();
  auto number_of = [](std::string_view name) {  // 90 of sm_90a; 0: not an architecture
    if (!name.starts_with("sm_")) return 0u;
    unsigned n = 0;
    std::size_t i = 3;
    for (; i < name.size() && i < 6 && name[i] >= '0' && name[i] <= '9'; ++i)
      n = n * 10 + static_cast<unsigned>(name[i] - '0');
    if (i + 1 == name.size() && (name[i] == 'a' || name[i] == 'f')) ++i;
    return i == name.size() && n >= 10 ? n : 0u;
  };
  do {
    const Token t = expect_identifier("an architecture such as sm_70");
    if (const unsigned n = number_of(t.text); n != 0) {
      if (module_.target.empty() || n > number_of(module_.target)) module_.target = t.text;
    } else if (t.text == "texmode_independent") {
      module_.texmode_independent = true;
    } else if (t.text != "texmode_unified" && t.text != "debug" && t.text != "map_f64_to_f32") {
      fail(t.at, fmt::format("{} is no target", shown(t)),
           "write an architecture such as sm_70 or sm_90a, or texmode_unified, texmode_independent, debug, "
           "map_f64_to_f32");
    }
  } while (accept(','));
  need_target();
}

void Parser::directive() {
  const Token& t = lexer_.peek();
  if (t.is("@@")) return lexer_.skip_line();
  if (t.is(';')) return void(lexer_.next());
  if (t.kind != Token::Kind::dotted)
    fail(t.at, fmt::format("expected a directive such as .entry or .global, found {}", shown(t)),
         t.is('}') ? "there is one '}' too many above" : "");
  if (t.text == ".version") return version_directive();
  if (t.text == ".file") return file_directive(false);
  if (t.text == ".loc") return loc_directive();
  if (t.text == ".section") return section_directive();
  if (t.text == ".alias") return alias_directive();
  if (t.text == ".target") return target_directive();
  if (t.text == ".address_size") {
    lexer_.next();
    const Place at = lexer_.peek().at;
    const ConstValue size = integer_value("an address size");
    const std::uint64_t bits = size.bits;
    if (bits != 32 && bits != 64)
      fail(at, fmt::format("address size {} is neither 32 nor 64", as_written(size)));
    if (bits == 32) unsupported(at, "32-bit addresses (.address_size 32)", "compile for a 64-bit target");
    module_.address_size = static_cast<unsigned>(bits);
    return;
  }
  if (t.text == ".pragma") {
    lexer_.next();
    do lexer_.next();
    while (accept(','));
    expect(';', "after .pragma");
    return;
  }
  linkage_then_declaration();
}

void Parser::linkage_then_declaration() {
  need_target();
  bool external = false, weak = false, common = false;
  while (true) {
    if (accept(".visible")) continue;
    if (accept(".extern")) {
      external = true;
      continue;
    }
    if (accept(".weak")) {
      weak = true;
      continue;
    }
    if (accept(".common")) {
      common = true;
      continue;
    }
    break;
  }
  const Token t = lexer_.next();
  if (t.text == ".entry") return function(true, external, weak);
  if (t.text == ".func") return function(false, external, weak);
  if (t.text == ".global") return module_variable(Space::global, external, weak, common);
  if (t.text == ".const") return module_variable(Space::constant, external, weak, common);
  if (t.text == ".shared" || t.text == ".shared::cta")
    return module_variable(Space::shared, external, weak, common);
  if (t.text == ".tex") return module_variable(Space::tex, external, weak, common);
  if (t.text == ".local" || t.text == ".param" || t.text == ".reg")
    fail(t.at, fmt::format("{} variables belong inside a function", t.text));
  fail(t.at, fmt::format("unknown directive {}", shown(t)));
}

void Parser::file_directive(bool) {
  lexer_.next();
  const std::uint64_t number = integer_expression("a file number");
  const Token name = lexer_.next();
  if (name.kind != Token::Kind::string)
    fail(name.at, fmt::format("expected a file name in quotes, found {}", shown(name)));
  if (number <= 0xffffffffu) module_.files[static_cast<unsigned>(number)] = std::string(name.text);
  while (accept(',')) integer_expression("a file time or size");
}

// .loc FILE LINE COLUMN [, function_name LABEL[+N], inlined_at FILE LINE COLUMN]
void Parser::loc_directive() {
  lexer_.next();
  const std::uint64_t file = integer_expression("a file number");
  const std::uint64_t line = integer_expression("a line number");
  if (lexer_.peek().kind == Token::Kind::integer) lexer_.next();
  while (accept(',')) {
    const Token what = expect_identifier("function_name or inlined_at");
    if (what.text == "function_name") {
      expect_identifier("a label");
      if (accept('+')) integer_expression("an offset");
    } else {
      for (int i = 0; i < 3; ++i) integer_expression("a number");
    }
  }
  file_ = static_cast<std::uint32_t>(file);
  source_line_ = static_cast<std::uint32_t>(line);
}

void Parser::section_directive() {
  lexer_.next();
  const Token name = lexer_.next();  // .debug_info, or an identifier
  if (!lexer_.peek().is('{'))
    fail(lexer_.peek().at, fmt::format("expected '{{' after .section {}, found {}", name.text.substr(0, 64),
                                       shown(lexer_.peek())));
  skip_braces();
}

void Parser::skip_braces() {
  const Place open = lexer_.peek().at;
  std::size_t depth = 0;
  do {
    const Token t = lexer_.next();
    if (t.kind == Token::Kind::end) fail(open, "'{' is never closed");
    if (t.is('{')) ++depth;
    if (t.is('}')) --depth;
  } while (depth != 0);
}

void Parser::alias_directive() {
  lexer_.next();
  const Token alias = expect_identifier("a function name");
  expect(',', "between the names of .alias");
  const Token target = expect_identifier("a function name");
  expect(';', "after .alias");
  module_.aliases.push_back({alias.text, target.text, alias.at, target.at});
}

std::vector<AstVariable> Parser::formals(bool prototype) {
  std::vector<AstVariable> out;
  expect('(', "before parameters");
  while (!lexer_.peek().is(')')) {
    out.push_back(formal(prototype));
    if (!accept(',')) break;
  }
  expect(')', "after parameters");
  return out;
}

AstVariable Parser::formal(bool prototype) {
  AstVariable v;
  const Token space = lexer_.next();
  v.at = space.at;
  if (space.text == ".param")
    v.space = Space::param;
  else if (space.text == ".reg")
    v.space = Space::reg;
  else
    fail(space.at, fmt::format("expected .param or .reg in a parameter list, found {}", shown(space)));
  bool have_type = false;
  while (lexer_.peek().kind == Token::Kind::dotted) {
    if (accept(".align")) {
      v.align = alignment();
      continue;
    }
    if (accept(".ptr")) {
      v.is_pointer = true;
      if (accept(".global"))
        v.pointee = Space::global;
      else if (accept(".shared"))
        v.pointee = Space::shared;
      else if (accept(".const"))
        v.pointee = Space::constant;
      else if (accept(".local"))
        v.pointee = Space::local;
      if (accept(".align")) v.pointee_align = alignment();
      continue;
    }
    if (accept(".v2")) {
      v.vector = 2;
      continue;
    }
    if (accept(".v4")) {
      v.vector = 4;
      continue;
    }
    const Token t = lexer_.next();
    v.type = fundamental_type(t);
    if (v.type == Type::texref || v.type == Type::samplerref || v.type == Type::surfref) v.reference = v.type;
    have_type = true;
  }
  if (!have_type)
    fail(lexer_.peek().at, fmt::format("expected a type in the parameter, found {}", shown(lexer_.peek())));
  std::vector<std::uint64_t> dims;
  if (lexer_.peek().kind == Token::Kind::identifier)
    declarator(v, dims);
  else if (!prototype)
    fail(lexer_.peek().at, fmt::format("expected a parameter name, found {}", shown(lexer_.peek())));
  finish_size(v, dims);
  return v;
}

void Parser::dims(std::uint32_t (&out)[3]) {
  for (unsigned i = 0; i < 3; ++i) {
    out[i] = static_cast<std::uint32_t>(number_in("a size", 1, 0x7fffffffu));
    if (!accept(',')) {
      for (unsigned k = i + 1; k < 3; ++k) out[k] = 1;
      return;
    }
  }
}

void Parser::performance_directives(AstFunction& f) {
  auto number = [&] {
    return static_cast<std::uint32_t>(number_in("the number of a directive", 0, 0x7fffffffu));
  };
  while (lexer_.peek().kind == Token::Kind::dotted) {
    const Token t = lexer_.next();
    if (t.text == ".maxntid")
      dims(f.max_ntid), f.ntid_at = t.at;
    else if (t.text == ".reqntid")
      dims(f.req_ntid), f.ntid_at = t.at;
    else if (t.text == ".reqnctapercluster")
      dims(f.req_cluster);
    else if (t.text == ".maxnreg")
      f.max_nreg = static_cast<std::uint32_t>(number_in("a limit of registers", 1, 255));
    else if (t.text == ".minnctapersm" || t.text == ".maxnctapersm")
      f.min_nctapersm = number();
    else if (t.text == ".maxclusterrank")
      f.max_cluster_rank = number();
    else if (t.text == ".explicitcluster")
      f.explicit_cluster = true;
    else if (t.text == ".blocksareclusters") {
    } else if (t.text == ".noreturn")
      f.signature.noreturn = true;
    else if (t.text == ".abi_preserve" || t.text == ".abi_preserve_control")
      number();
    else if (t.text == ".attribute") {
      AstVariable ignored;
      attributes(ignored);
    } else if (t.text == ".pragma") {
      do lexer_.next();
      while (accept(','));
      expect(';', "after .pragma");
    } else
      fail(t.at, fmt::format("unknown directive {} of a function", shown(t)));
  }
}

void Parser::function(bool is_entry, bool external, bool weak) {
  AstFunction f;
  f.is_entry = is_entry;
  f.external = external;
  f.weak = weak;
  if (accept(".attribute")) {
    AstVariable ignored;
    attributes(ignored);
  }
  if (!is_entry && lexer_.peek().is('(')) f.signature.returns = formals(false);
  const Token name = expect_identifier("a function name");
  f.name = name.text;
  f.at = name.at;
  if (lexer_.peek().is('(')) f.signature.params = formals(false);
  performance_directives(f);
  if (accept(';')) return add_function(std::move(f));
  if (!lexer_.peek().is('{'))
    fail(lexer_.peek().at, fmt::format("expected '{{' or ';' after the head of '{}', found {}",
                                       f.name.substr(0, 64), shown(lexer_.peek())));
  if (external) fail(f.at, fmt::format(".extern function '{}' has a body", f.name.substr(0, 64)));
  f.has_body = true;
  body(f);
  add_function(std::move(f));
}

void Parser::add_function(AstFunction&& f) {
  if (module_.variable_index.contains(f.name))
    fail(f.at, fmt::format("'{}' is already a variable", f.name.substr(0, 64)), {}, "ptx-redefined");
  const auto [it, fresh] =
      module_.function_index.try_emplace(f.name, static_cast<std::uint32_t>(module_.functions.size()));
  if (fresh) {
    module_.functions.push_back(std::move(f));
    return;
  }
  AstFunction& old = module_.functions[it->second];
  if (!f.has_body) return;
  if (old.has_body)
    fail(f.at,
         fmt::format("'{}' is defined twice; the first definition is on line {}", f.name.substr(0, 64),
                     old.at.line),
         {}, "ptx-redefined");
  old = std::move(f);
}

}  // namespace simtlab::ptx
