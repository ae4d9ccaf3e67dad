// Shared by the tests of ptx/: modules from fragments.
#pragma once

#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "base/error.h"
#include "ptx/module.h"

namespace simtlab::ptx::test {

inline const std::string head = ".version 7.8\n.target sm_80\n.address_size 64\n";

inline const std::string registers =
    ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>; .reg .f64 "
    "%d<10>;\n";

inline std::shared_ptr<const Module> load(const std::string& text) { return load_module("t.ptx", text); }

// A kernel `k` with the usual registers around a body.
inline std::string kernel(const std::string& body, const std::string& params = "") {
  return head + ".visible .entry k(" + params + ") {\n" + registers + body + "\n}\n";
}

// Keeps the module alive next to its kernel.
struct Kernel {
  std::shared_ptr<const Module> module;
  const Function& fn;
  const Inst& operator[](std::size_t pc) const { return fn.code.at(pc); }
  std::uint64_t constant(const Operand& o) const { return fn.constants.at(o.index).value; }
};

inline Kernel load_kernel(const std::string& body, const std::string& params = "") {
  auto module = load(kernel(body, params));
  const Function& fn = *module->find_function("k");
  return {std::move(module), fn};
}

inline std::string read_file(const std::string& name) {
  std::ifstream file(std::string(SIMTLAB_SOURCE_DIR) + "/tests/data/ptx/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The error that loading gives; code ok if there was none.
struct Failure {
  ExitCode code = ExitCode::ok;
  std::string id, message, text, hint;
  std::uint32_t line = 0, column = 0;
  std::size_t count = 0;
};

inline Failure failure(const std::string& text) {
  try {
    load(text);
  } catch (const Error& e) {
    const Diagnostic& d = e.diagnostics().front();
    return {e.code(), e.id(), d.message, d.text, d.hint, d.pos.line, d.pos.column, e.diagnostics().size()};
  }
  return {};
}

}  // namespace simtlab::ptx::test
