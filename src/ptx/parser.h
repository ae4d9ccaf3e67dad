// Recursive-descent parser: module level, function level, operands. State of one parse.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/ast.h"
#include "ptx/lexer.h"

namespace simtlab::ptx {

// Value of a constant expression.
struct ConstValue {
  bool is_float = false;
  bool is_float32 = false;  // written as 0f...
  bool is_unsigned = false;
  std::uint64_t bits = 0;
};

class Parser {
 public:
  explicit Parser(const Source& source, AstModule& module)
      : source_(source), lexer_(source), module_(module) {}
  void run();

 private:
  // The meaning of a name inside a function scope.
  struct Name {
    enum class Kind : std::uint8_t { reg, vector_reg, variable } kind = Kind::reg;
    std::uint32_t index = 0;  // virtual register (first of `lanes`) or variable
    std::uint8_t lanes = 1;
  };
  struct Family {  // .reg .b32 %r<100>: registers are made when first used
    std::uint64_t count = 0;
    Type type = Type::b32;
    std::uint8_t lanes = 1;
  };
  struct Scope {
    std::uint32_t id = 0;
    std::unordered_map<std::string_view, Name> names;
    std::unordered_map<std::string_view, Family> families;
  };

  // parser.cpp: module level
  void directive();
  void version_directive();
  void target_directive();
  void need_target();
  void file_directive(bool inside_function);
  void loc_directive();
  void section_directive();
  void linkage_then_declaration();
  void alias_directive();
  void skip_braces();
  void function(bool is_entry, bool external, bool weak);
  void performance_directives(AstFunction& f);
  void dims(std::uint32_t (&out)[3]);
  void add_function(AstFunction&& f);
  std::vector<AstVariable> formals(bool prototype);
  AstVariable formal(bool prototype);

  // parser_variables.cpp: variables and initialisers
  void module_variable(Space space, bool external, bool weak, bool common);
  void function_variable(Space space);
  std::vector<AstVariable> variables(Space space);
  void attributes(AstVariable& v);
  void declarator(AstVariable& v, std::vector<std::uint64_t>& dims);
  void initialiser(AstVariable& v, const std::vector<std::uint64_t>& dims);
  void initial_level(AstVariable& v, const std::vector<std::uint64_t>& dims, std::size_t level,
                     std::uint64_t& position);
  void initial_element(AstVariable& v, std::uint64_t& position);
  std::uint32_t alignment();
  Type fundamental_type(const Token& t);
  void finish_size(AstVariable& v, const std::vector<std::uint64_t>& dims);
  void reg_declaration();

  // parser_body.cpp: statements and operands
  void body(AstFunction& f);
  void statement();
  void label(const Token& name);
  void table_directive(const Token& name);
  void instruction();
  std::string_view opcode_text(const Token& first, std::uint32_t& mods);
  void operand(bool call, unsigned depth);
  void vector_operand(bool call, unsigned depth);
  void list_operand(unsigned depth);
  void address_operand(unsigned depth);
  void name_operand();
  void register_operand(const Name& name, const Token& token);
  void constant_operand();
  std::int64_t symbol_offset();
  std::size_t open_operand(AstOperand::Kind kind, Place at);
  void close_operand(std::size_t index, std::size_t children);
  const Name* lookup(std::string_view name);
  const Name* lookup_in(Scope& scope, std::string_view name);
  std::uint32_t new_register(Type type);
  void declare(std::string_view name, Name what, Place at);

  // parser_expr.cpp: constant expressions
  ConstValue expression() { return conditional(0); }
  std::uint64_t integer_expression(std::string_view what) { return integer_value(what).bits; }
  ConstValue integer_value(std::string_view what);
  static std::string as_written(const ConstValue& v);
  // A number from `low` to `high`, or an error at its place: "what N is ..."
  std::uint64_t number_in(std::string_view what, std::uint64_t low, std::uint64_t high);
  ConstValue conditional(unsigned depth);
  ConstValue binary(unsigned level, unsigned depth);
  ConstValue unary(unsigned depth);
  ConstValue apply(std::string_view op, ConstValue a, ConstValue b, Place at);

  // shared helpers
  [[noreturn]] void fail(Place at, std::string message, std::string hint = {},
                         std::string id = "ptx-syntax") const;
  void unsupported(Place at, std::string message, std::string hint = {});
  Token expect(char c, std::string_view where);
  bool accept(char c);
  bool accept(std::string_view s);
  Token expect_identifier(std::string_view what);
  std::string shown(const Token& t) const;

  const Source& source_;
  Lexer lexer_;
  AstModule& module_;
  AstFunction* function_ = nullptr;
  std::vector<Scope> scopes_;
  std::uint32_t file_ = 0, source_line_ = 0;
  std::size_t instruction_count_ = 0, variable_count_ = 0, target_count_ = 0, value_count_ = 0;
};

}  // namespace simtlab::ptx
