// A module as written: declarations with sizes, and instructions whose registers and function-scope variables
// are already resolved to numbers (their scope is known only while parsing). Everything else waits for
// decode.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/source.h"
#include "ptx/types.h"

namespace simtlab::ptx {

inline constexpr std::uint32_t no_index = 0xffffffffu;

// Operands are stored in pre-order in one array a function: a vector, list, address or pair is followed by
// its children.
struct AstOperand {
  enum class Kind : std::uint8_t {
    reg,        // index = virtual register
    special,    // index = Special
    integer,    // value
    float32,    // value = bits
    float64,    // value = bits
    local_var,  // index = AstFunction::variables; value = offset added
    symbol,     // text = name at module scope, or a label; value = offset added
    sink,       // _
    vector,     // { children }
    list,       // ( children ) of a call
    address,    // [ children ]: one child plus value for memory, several for tex
    pair,       // p|q: two children
  };
  Kind kind = Kind::integer;
  bool negated = false;       // !p, or -a of video instructions
  bool is_unsigned = false;   // integer constant of type u64
  std::uint8_t children = 0;  // direct children
  std::uint32_t span = 1;     // this operand and all its descendants
  std::uint32_t index = 0;
  std::int64_t value = 0;
  std::string_view text;      // symbol name
  std::string_view selector;  // .b0, .h1, .xy of video instructions, without the dot
  Place at;
};

struct AstInst {
  std::string_view opcode;         // with all modifiers: "ld.global.v2.f32"
  std::uint32_t guard = no_index;  // virtual register
  bool guard_negated = false;
  std::uint32_t first = 0, count = 0;  // operands: index of the first, number at top level
  std::uint32_t scope = 0;             // for labels
  std::uint32_t file = 0, source_line = 0;
  Place at;
};

struct AstRegister {
  Type type = Type::b32;
};

// Variable of a function: formal, .local, .shared or .param. Module variables use it too.
struct AstVariable {
  std::string_view name;
  Space space = Space::global;
  Type type = Type::b8;
  Type reference = Type::none;
  std::uint64_t count = 1;  // elements, all dimensions multiplied
  std::uint64_t bytes = 0;
  std::uint32_t align = 1;
  unsigned vector = 1;
  bool external = false, weak = false, common = false, managed = false;
  bool unsized = false;     // x[]
  bool is_pointer = false;  // .ptr
  Space pointee = Space::generic;
  std::uint32_t pointee_align = 1;
  std::uint32_t reg = no_index;  // formal declared in .reg space: the virtual register
  Place at;

  struct Value {  // one element of an initialiser
    enum class Kind : std::uint8_t { integer, float32, float64, symbol } kind = Kind::integer;
    bool generic = false;
    bool is_unsigned = false;  // integer of type u64
    std::uint64_t offset = 0;  // in the variable
    std::uint64_t bits = 0;    // a number, or the offset that is added to the symbol
    std::uint64_t mask = 0;    // 0xff00(symbol): which byte; 0 = the whole address
    std::string_view symbol;
    Place at;
  };
  std::vector<Value> initial;
  bool has_initial = false;
};

struct AstLabel {
  std::string_view name;
  std::uint32_t scope = 0;
  std::uint32_t inst = 0;  // the instruction that follows
  Place at;
};

// Signature of a function or .callprototype.
struct AstSignature {
  std::vector<AstVariable> returns, params;
  bool noreturn = false;
};

struct AstTable {  // .branchtargets, .calltargets, .callprototype
  enum class Kind : std::uint8_t { branch, call, prototype } kind = Kind::branch;
  std::string_view name;
  std::uint32_t scope = 0;
  std::vector<AstOperand> targets;
  AstSignature prototype;
  Place at;
};

struct AstFunction {
  std::string_view name;
  bool is_entry = false, has_body = false, external = false, weak = false;
  AstSignature signature;
  std::vector<AstRegister> registers;
  std::vector<AstVariable> variables;  // formals first: returns, params; then the body's
  std::vector<AstInst> code;
  std::vector<AstOperand> operands;
  std::vector<AstLabel> labels;
  std::vector<AstTable> tables;
  std::vector<std::uint32_t> scope_parent;  // scope 0 = the body; parent of 0 is no_index
  std::uint32_t max_ntid[3] = {0, 0, 0}, req_ntid[3] = {0, 0, 0}, req_cluster[3] = {0, 0, 0};
  std::uint32_t max_nreg = 0, min_nctapersm = 0, max_cluster_rank = 0;
  bool explicit_cluster = false;
  Place at, ntid_at;  // the name; .maxntid or .reqntid
};

struct AstAlias {
  std::string_view name, target;
  Place at, target_at;
};

struct AstModule {
  std::string_view version, target;
  unsigned address_size = 64;
  bool texmode_independent = false;
  std::vector<AstFunction> functions;  // one a name; a definition replaces its declarations
  std::vector<AstVariable> variables;
  std::unordered_map<std::string_view, std::uint32_t> function_index, variable_index;
  std::map<unsigned, std::string> files;
  std::vector<AstAlias> aliases;
  std::vector<Diagnostic> unsupported;  // constructs of PTX that simtlab does not have (exit code 4)
};

// Throws Error(bad_input) at the first thing that is not PTX.
AstModule parse(const Source& source);

}  // namespace simtlab::ptx
