#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/cli.h"
#include "cli/manifest.h"
#include "cli/output.h"
#include "exec/executor.h"

namespace simtlab::cli {

void add_version(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand("version", "Version, instruction set in use, place of the data files");
  sub->callback([&chosen] {
    chosen = [] {
      print(fmt::format("simtlab {}\ninstruction set {}\ndata {}\n", version(), exec::instruction_set(),
                        device::data_directory().string()));
      return 0;
    };
  });
}

}  // namespace simtlab::cli
