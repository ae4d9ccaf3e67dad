// load_module: parse, decode every function, then what concerns them together: reachability, recursion, the
// layout of shared memory, the resources of whole call chains.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <tuple>

#include "ptx/cfg.h"
#include "ptx/contract.h"
#include "ptx/decode.h"
#include "ptx/fold.h"
#include "ptx/layout.h"
#include "ptx/liveness.h"
#include "ptx/module.h"
#include "ptx/resources.h"

namespace simtlab::ptx {
namespace {

Variable make_variable(const AstVariable& v, std::string name) {
  Variable out;
  out.name = std::move(name);
  out.space = v.space == Space::tex ? Space::global : v.space;
  out.type = v.type;
  out.reference = v.space == Space::tex ? Type::texref : v.reference;
  out.bytes = v.bytes;
  out.align = v.align;
  out.external = v.external;
  out.managed = v.managed;
  out.line = v.at.line;
  out.column = v.at.column;
  return out;
}

// Variables of the module, and variables of functions under "function.variable".
void collect_variables(ModuleScope& scope, std::vector<const AstVariable*>& origin) {
  Module& m = *scope.module;
  for (const AstVariable& v : scope.ast->variables) {
    scope.variables.emplace(v.name, static_cast<std::uint32_t>(m.variables.size()));
    m.variables.push_back(make_variable(v, std::string(v.name)));
    origin.push_back(&v);
  }
  for (std::uint32_t f = 0; f < scope.ast->functions.size(); ++f) {
    const AstFunction& fn = scope.ast->functions[f];
    for (std::uint32_t i = 0; i < fn.variables.size(); ++i) {
      const AstVariable& v = fn.variables[i];
      if (v.space != Space::shared && v.space != Space::global && v.space != Space::constant) continue;
      scope.promoted[{f, i}] = static_cast<std::uint32_t>(m.variables.size());
      m.variables.push_back(make_variable(v, fmt::format("{}.{}", fn.name, v.name)));
      m.variables.back().external = v.unsized;
      origin.push_back(&v);
    }
  }
}

// Constant memory is one window of 64 KiB on every device.
void check_constants(const ModuleScope& scope, const std::vector<const AstVariable*>& origin) {
  std::uint64_t used = 0;
  for (const AstVariable* v : origin) {
    if (v->space != Space::constant || v->external) continue;
    used = (used + v->align - 1) / v->align * v->align;
    if (v->bytes > Limits::constant_bytes || used + v->bytes > Limits::constant_bytes)
      scope.source->fail(v->at, "ptx-limit",
                         fmt::format("constant memory of the module needs more than {} bytes with '{}'",
                                     Limits::constant_bytes, v->name.substr(0, 64)),
                         "keep large tables in .global memory");
    used += v->bytes;
  }
}

void collect_functions(ModuleScope& scope, std::vector<std::uint32_t>& ast_of) {
  for (std::uint32_t f = 0; f < scope.ast->functions.size(); ++f) {
    const AstFunction& fn = scope.ast->functions[f];
    if (!fn.has_body) continue;
    scope.functions.emplace(fn.name, static_cast<std::uint32_t>(scope.module->functions.size()));
    Function named;
    named.name = fn.name;
    scope.module->functions.push_back(std::move(named));
    ast_of.push_back(f);
  }
  for (const AstAlias& a : scope.ast->aliases) {
    if (!scope.ast->function_index.contains(a.name))
      scope.source->fail(a.at, "ptx-undeclared",
                         fmt::format("function '{}' is not declared", a.name.substr(0, 256)),
                         "an alias needs a declaration: .func name(...);");
    const auto f = scope.functions.find(a.target);
    if (f == scope.functions.end())
      scope.source->fail(a.target_at, "ptx-undeclared",
                         fmt::format("function '{}' is not defined in this module", a.target.substr(0, 256)));
    scope.functions.emplace(a.name, f->second);
  }
}

// Machine code reads constants from one bank: all of them are parts of a variable.
void gather_constants(Module& module) {
  Variable bank;
  bank.name = constant_bank_name;
  bank.space = Space::constant;
  bank.align = 256;
  const auto index = static_cast<std::int32_t>(module.variables.size());
  for (Variable& v : module.variables) {
    if (v.space != Space::constant || v.external || v.reference != Type::none) continue;
    const std::uint64_t align = std::max(v.align, 1u);
    bank.bytes = (bank.bytes + align - 1) / align * align;
    v.within = index;
    v.within_offset = bank.bytes;
    bank.bytes += v.bytes;
  }
  if (bank.bytes > 0) module.variables.push_back(std::move(bank));
}

// What clang puts in from its own headers (threadIdx.x, atomicAdd) belongs to the line of the program that
// called it: nobody can change the header. clang does not write that line; the last one before stands for it,
// of the first instructions the one behind. So do instructions of line 0, which are of no line.
void credit_callers(Function& f, const std::map<unsigned, std::string>& files) {
  const auto of_compiler = [&](const Inst& inst) {
    const auto file = files.find(inst.file);
    return file != files.end() && file->second.find("/__clang_") != std::string::npos;
  };
  const auto own = std::ranges::find_if(
      f.code, [&](const Inst& inst) { return inst.source_line != 0 && !of_compiler(inst); });
  if (own == f.code.end()) return;
  std::uint32_t file = own->file, line = own->source_line;
  for (Inst& inst : f.code) {
    if (of_compiler(inst) || inst.source_line == 0)
      inst.file = file, inst.source_line = line;
    else
      file = inst.file, line = inst.source_line;
  }
}

// Whether blocks may learn addresses in each other's shared memory.
bool uses_clusters(const AstModule& ast) {
  return std::ranges::any_of(ast.functions, [](const AstFunction& f) {
    return std::ranges::any_of(f.code, [](const AstInst& inst) {
      const std::string_view opcode = inst.opcode;
      return opcode.starts_with("mapa") || opcode.starts_with("getctarank") ||
             opcode.starts_with("barrier.cluster.");
    });
  });
}

// Registers get places.
Allocation place(VirtualFunction& f) {
  const Cfg cfg = build_cfg(f.fn);
  set_reconvergence(f.fn, cfg);
  fold(f.fn, cfg, f.registers);
  Allocation out = allocate(f.fn, cfg, f.registers);
  apply(f.fn, out);
  std::vector<Type>().swap(f.registers);
  return out;
}

// Kernels are optimised and assembled when they are first needed: modules have many that nobody launches.
class LateKernels : public LateCode {
 public:
  LateKernels(Module& module, std::vector<VirtualFunction> functions, const LoadOptions& options)
      : module_(module),
        options_(options),
        functions_(std::move(functions)),
        is_complete_(functions_.size(), false) {}
  void keep(Resources resources) { resources_.emplace(std::move(resources)); }

  void complete(std::uint32_t number) override {
    const std::lock_guard lock(mutex_);
    VirtualFunction& f = functions_.at(number);
    if (is_complete_[number] || !f.fn.is_entry) return;
    const Allocation allocation = make(f, number);
    resources_->total(module_, number, allocation, f.fn);
    if (f.fn.assembled) f.fn.source = std::make_shared<Function>(std::move(module_.functions[number]));
    module_.functions[number] = std::move(f.fn);
    f = {};
    is_complete_[number] = true;
  }

  void check(std::uint32_t number) override { complete(number); }

 private:
  // Machine code, where there can be any; else its registers get places.
  Allocation make(VirtualFunction& f, std::uint32_t number) {
    std::string why = options_.not_optimised;
    if (options_.recall && options_.recall(f, module_, why)) return {};
    if (options_.optimise != nullptr) f.fn.optimised = options_.optimise(functions_, number, module_, why);
    f.fn.not_optimised = std::move(why);
    std::string problem;
    if (options_.assemble && options_.assemble(f, module_, problem)) return {};
    f.fn.not_assembled = std::move(problem);
    return place(f);
  }

  Module& module_;
  LoadOptions options_;
  std::vector<VirtualFunction> functions_;  // without places for registers
  std::vector<bool> is_complete_;
  std::optional<Resources> resources_;
  std::mutex mutex_;
};

}  // namespace

unsigned Module::capability() const {
  unsigned out = 0;
  for (const char c : target)
    if (c >= '0' && c <= '9') out = std::min(out * 10 + static_cast<unsigned>(c - '0'), 1'000'000u);
  return out;
}

Diagnostic Module::diagnostic(std::uint32_t line, std::uint32_t column, std::string message,
                              std::string hint) const {
  std::string shown;
  std::size_t from = line == 0 || !text ? std::string::npos : 0;
  for (std::uint32_t at = 1; at < line && from != std::string::npos; ++at) {
    from = text->find('\n', from);
    if (from != std::string::npos) ++from;
  }
  if (from != std::string::npos)
    shown = text->substr(from, std::min<std::size_t>(text->find('\n', from) - from, 4096));
  return {std::move(message), {name, line, column}, std::move(shown), std::move(hint)};
}

const Function* Module::find_function(std::string_view name) const {
  for (const Function& f : functions)
    if (f.name == name) return &f;
  return nullptr;
}

const Variable* Module::find_variable(std::string_view name) const {
  for (const Variable& v : variables)
    if (v.name == name) return &v;
  return nullptr;
}

std::shared_ptr<const Module> load_module(std::string name, std::string text, const LoadOptions& options) {
  const Source source(std::move(name), std::move(text));
  AstModule ast = parse(source);
  auto module = std::make_shared<Module>();
  module->name = source.name();
  module->version = ast.version;
  module->target = ast.target;
  module->address_size = ast.address_size;
  module->files = std::move(ast.files);
  module->text = source.share();

  ModuleScope scope;
  scope.source = &source;
  scope.ast = &ast;
  scope.module = module.get();
  scope.unsupported = std::move(ast.unsupported);
  std::vector<const AstVariable*> origin;
  std::vector<std::uint32_t> ast_of;
  collect_variables(scope, origin);
  check_constants(scope, origin);
  collect_functions(scope, ast_of);
  module->clusters = uses_clusters(ast);
  std::vector<VirtualFunction> functions;
  functions.reserve(ast_of.size());
  for (const std::uint32_t f : ast_of) {
    functions.push_back(decode_function(scope, f));
    contract(functions.back());
  }
  fill_initialisers(scope, origin, functions);
  CallGraph graph = build_call_graph(scope, functions, ast_of);
  if (options.reject_unsupported && !scope.unsupported.empty()) {
    std::sort(scope.unsupported.begin(), scope.unsupported.end(),
              [](const Diagnostic& a, const Diagnostic& b) {
                return std::tie(a.pos.line, a.pos.column, a.message) <
                       std::tie(b.pos.line, b.pos.column, b.message);
              });
    throw Error(ExitCode::unsupported, "ptx-unsupported", std::move(scope.unsupported));
  }
  lay_out_shared(scope, functions, graph, origin);
  if (options.assemble) gather_constants(*module);
  for (VirtualFunction& f : functions) {
    credit_callers(f.fn, module->files);
    module->allocates |=
        std::ranges::any_of(f.fn.code, [](const Inst& inst) { return inst.op == Op::heap_alloc; });
  }
  std::shared_ptr<LateKernels> late;
  if (options.optimise != nullptr || options.assemble)
    late = std::make_shared<LateKernels>(*module, functions, options);
  std::vector<Allocation> allocations;
  std::uint64_t frame_align = 16;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    allocations.push_back(place(functions[i]));
    frame_align = std::max<std::uint64_t>(frame_align, functions[i].frame_align);
    module->functions[i] = std::move(functions[i].fn);
  }
  Resources resources(std::move(graph), frame_align);
  resources.total_all(*module, allocations);
  if (late) late->keep(std::move(resources));
  module->late = std::move(late);
  return module;
}

}  // namespace simtlab::ptx
