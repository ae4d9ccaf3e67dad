// From the syntax tree to instructions over virtual registers.
//
// decode_function resolves names, checks operands and rewrites what the executor need not know:
//   - constants as predicate operands become setp instructions, .reg formals become loads and stores of the
//   frame,
//     vprintf and __assertfail calls become their Op with loads of their arguments in front,
//   - accesses to .param variables in frames become local accesses.
// Registers keep virtual numbers; allocate() (liveness.h) then gives them slots.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/ast.h"
#include "ptx/module.h"
#include "ptx/opcodes.h"

namespace simtlab::ptx {

// Of the variable that all constants are parts of where machine code is made. No name of PTX looks like it.
inline constexpr const char* constant_bank_name = "constant bank 3";

// A function whose Operands of kind reg and pred hold virtual register numbers.
struct VirtualFunction {
  Function fn;
  std::vector<Type> registers;  // type of each virtual register
  struct SharedUse {
    std::uint32_t constant, variable;
  };  // constants to which a shared offset is added
  std::vector<SharedUse> shared_uses;
  std::vector<std::uint32_t> callees;          // direct calls, sorted, unique
  std::vector<std::uint32_t> addresses_taken;  // functions whose handle the code makes
  struct Indirect {
    std::uint32_t site;
    AstSignature prototype;
    std::vector<std::uint32_t> targets;
    bool any = false;
  };
  std::vector<Indirect> indirect;  // candidates are known when all functions are decoded
  std::uint32_t frame_align = 16;
};

// Facts about the whole module that decoding a function needs.
struct ModuleScope {
  const Source* source = nullptr;
  const AstModule* ast = nullptr;
  Module* module = nullptr;  // variables are complete; functions have names
  std::unordered_map<std::string_view, std::uint32_t> variables, functions;  // of Module; aliases too
  // Function-scope shared, global and const variables: (function in ast, variable) -> Module variable.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> promoted;
  std::vector<Diagnostic> unsupported;  // found while decoding
  bool reject_unsupported = true;
  OpcodeMatcher matcher;

  void report(Place at, std::string message, std::string hint = {});
};

// Why a function that the module only declares can't be used.
std::string_view hint_for_undefined(std::string_view name);

// Layout of formals in a parameter block or a frame; returns the bytes used.
std::uint64_t place_formals(const std::vector<AstVariable>& formals, std::uint64_t start,
                            std::vector<Param>& out);

VirtualFunction decode_function(ModuleScope& scope, std::uint32_t ast_index);

// One function in the making.
class FunctionDecoder {
 public:
  FunctionDecoder(ModuleScope& scope, std::uint32_t ast_index);
  VirtualFunction run();

 private:
  using Kind = AstOperand::Kind;
  // Operands of the instruction at hand, top level only.
  struct Args {
    std::vector<const AstOperand*> top;
  };

  // decode.cpp
  void lay_out_frame();
  void instruction(const AstInst& ast);
  void resolve_branches();
  void finish_code();
  Inst begin(const AstInst& ast, const Match& match) const;
  void emit(Inst inst);
  void signature(Inst& inst, const Match& match);
  void apply_spec(Inst& inst, const OperandSpec& spec, const AstOperand& o);
  void video(Inst& inst);
  void policy(Inst& inst);

  // decode_operand.cpp
  Type spec_type(const Inst& inst, const OperandSpec& spec) const;
  Operand source(const AstOperand& o, Type type, bool relaxed = false);
  Operand result(const AstOperand& o, Type type, bool relaxed = false);
  Operand reg_operand(const AstOperand& o, Type type, bool relaxed);
  Operand constant_operand(const AstOperand& o, Type type);
  Operand symbol_address(const AstOperand& o, Type type, Inst& inst);
  Operand predicate(const AstOperand& o);
  Operand predicate_result(const AstOperand& o);
  Operand constant(std::uint64_t value, unsigned bytes);
  Operand constant_of(Constant c, unsigned bytes);
  Operand shared_address(std::uint32_t variable, std::uint64_t addend, unsigned bytes);
  // Null: not an address in shared memory
  const VirtualFunction::SharedUse* shared_use(Operand constant) const;
  Operand new_reg(Type type);
  std::uint64_t bits_of(const AstOperand& o, Type type) const;
  std::uint64_t integer_constant(const AstOperand& o, std::string_view what, std::uint64_t limit) const;
  void add_src(Inst& inst, Operand o) const;
  void add_dst(Inst& inst, Operand o) const;
  const AstOperand& arg(std::size_t i) const { return *args_.top[i]; }
  const AstOperand& child(const AstOperand& o, std::size_t i) const;
  void expect_count(std::size_t low, std::size_t high) const;
  void drop_cache_policy(const Match& match);

  // decode_memory.cpp
  Operand address(Inst& inst, const AstOperand& o, std::int64_t& offset);
  Operand variable_address(Inst& inst, const AstOperand& o);
  Operand fold_offset(const Inst& inst, Operand base, std::int64_t offset);
  void load(Inst& inst, const Match& match);
  void store(Inst& inst, const Match& match);
  void atomic(Inst& inst, const Match& match, bool has_result);
  void copy_async(Inst& inst, const Match& match);
  void texture(Inst& inst);
  void move(Inst& inst);
  void move_vector(Inst& inst);
  void move_scalar(Inst& inst);
  void convert_address(Inst& inst);

  // decode_mbarrier.cpp
  bool mbarrier(Inst& inst, const Match& match);
  void mbarrier_init(Inst& inst);
  void mbarrier_invalidate(Inst& inst);
  void mbarrier_arrive(Inst& inst, std::string_view family);
  void mbarrier_test(Inst& inst, bool parity);
  void mbarrier_pending(Inst& inst);
  void mbarrier_behind_copies(Inst& inst, bool counted);
  void copy_bulk(Inst& inst, const Match& match, bool load);
  Operand computed(const Inst& like, Op op, OpClass op_class, Type type,
                   std::initializer_list<Operand> sources);
  Operand widened(const Inst& like, const AstOperand& o);
  Operand upper_word(const Inst& like, Operand value, std::uint64_t low);

  // decode_cluster.cpp
  bool cluster(Inst& inst, const Match& match);
  void map_address(Inst& inst, bool generic);
  void rank_of_address(Inst& inst);
  void store_async(Inst& inst, const Match& match, bool reduces);
  Operand cluster_rank(const Inst& like);
  Operand in_cluster(const Inst& like, Operand shared);
  Operand shared_value(const Inst& like, const AstOperand& o, unsigned bytes);

  // decode_control.cpp
  void branch();
  void branch_indexed(Inst& inst);
  void barrier(Inst& inst);
  void call(Inst& inst);
  void call_direct(Inst& inst, std::string_view name, const AstOperand& at, const AstOperand* returns,
                   const AstOperand* params);
  void call_indirect(Inst& inst, const AstOperand& pointer, const AstOperand* returns,
                     const AstOperand* params, const AstOperand* table);
  bool call_builtin(Inst& inst, std::string_view name, const AstOperand* returns, const AstOperand* params);
  void bind_arguments(CallSite& site, const std::vector<Param>& formals, const AstOperand* list,
                      bool returns);
  void return_(Inst& inst);
  Inst plain(const Inst& like, Op op, OpClass c, Type type) const;
  const AstTable* find_table(std::string_view name) const;
  std::uint32_t find_label(std::string_view name, std::uint32_t scope) const;

  [[noreturn]] void fail(const AstOperand& o, std::string message, std::string hint = {}) const;
  [[noreturn]] void fail_here(std::string message, std::string hint = {}) const;

  ModuleScope& scope_;
  const AstFunction& ast_;
  std::uint32_t ast_index_;
  VirtualFunction out_;
  std::vector<std::uint64_t> offset_;  // of ast variables: in the parameter block or the frame
  const AstInst* current_ = nullptr;
  Args args_;
  std::vector<std::uint32_t> pc_of_;  // syntax tree index -> pc
  struct Pending {
    std::uint32_t pc, label;
  };
  std::vector<Pending> branches_;  // bra: target = index of label until all pcs are known
  std::vector<std::vector<std::uint32_t>> table_labels_;
  std::unordered_map<const AstTable*, std::uint32_t> table_index_;  // in table_labels_
  // (scope, name) -> index
  std::map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> labels_, tables_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> constants_;  // (key, value) -> index
};

}  // namespace simtlab::ptx
