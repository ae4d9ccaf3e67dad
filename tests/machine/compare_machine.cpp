// For tools/machine_trust.py: compares PTX with machine code, and says which PTX instructions there are.
//   compare_machine SUITE...   a line for each kernel and cubin: SUITE LABEL KERNEL OUTCOME TEXT, by tabs
//   compare_machine forms      the opcode table: BASE  GROUPS  OPERANDS, by tabs. A group is its words joined
//                              by "|", with "?" before it if it may be left out and "!" if it is part of the
//                              name.
// Exit codes: 0 whatever was found, 2 wrong arguments or suites.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

#include "../unit/exec/machine_comparison.h"
#include "base/error.h"
#include "ptx/opcodes.h"

namespace {

using namespace simtlab;

void print_forms() {
  for (const ptx::Form& form : ptx::opcode_table()) {
    if (form.refused) continue;
    std::string groups;
    for (const ptx::FormGroup& group : ptx::groups_of(form)) {
      if (!groups.empty()) groups += ' ';
      if (group.named) groups += '!';
      if (group.optional) groups += '?';
      groups += fmt::format("{}", fmt::join(group.words, "|"));
    }
    fmt::print("{}\t{}\t{}\n", form.base, groups, form.operands);
  }
}

}  // namespace

int main(int count, char** values) {
  if (count < 2) {
    std::fputs("usage: compare_machine SUITE... | forms\n", stderr);
    return 2;
  }
  if (std::string(values[1]) == "forms") {
    print_forms();
    return 0;
  }
  try {
    for (int i = 1; i < count; ++i)
      exec::comparison::compare_suite(exec::comparison::read_suite(values[i]),
                                      [&](const exec::comparison::Finding& f) {
                                        fmt::print("{}\t{}\t{}\t{}\t{}\n", values[i], f.label, f.kernel->name,
                                                   name_of(f.outcome), f.text);
                                        std::fflush(stdout);
                                      });
  } catch (const Error& error) {
    std::fputs(error.format().c_str(), stderr);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compare_machine: %s\n", error.what());
    return 2;
  }
  return 0;
}
