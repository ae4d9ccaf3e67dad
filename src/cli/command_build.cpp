// simtlab build: CUDA sources to an executable that runs on the simulated GPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/cli.h"
#include "cli/compile.h"
#include "cli/output.h"

namespace simtlab::cli {

void add_build(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand(
      "build", "Compile CUDA C++ (nvcc-like flags) to an executable: simtlab build app.cu -o app");
  sub->prefix_command();  // everything after the command is the compiler driver's
  sub->footer(
      "Flags as nvcc's: -o FILE, -I, -D, -U, -O, -g, -std=, -arch, -l, -L, -Xcompiler, -x, -c, ...; -v shows "
      "the commands.\n"
      "The executable needs libcudart.so of simtlab: start it with `simtlab run -- ./app`.");
  sub->callback([&chosen, sub] {
    chosen = [sub] {
      compile(sub->remaining(), {});
      return 0;
    };
  });
}

}  // namespace simtlab::cli
