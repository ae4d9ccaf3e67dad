#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "exec/executor.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/common/output.h"

namespace simtlab::cli {

void add_version(Command& app) {
  Command* sub = app.add_subcommand("version", "Version, instruction set in use, place of the data files");
  sub->action([](const Call&) {
    print(fmt::format("simtlab {}\ninstruction set {}\ndata {}\n", version(), exec::instruction_set(),
                      device::data_directory().string()));
    return 0;
  });
}

}  // namespace simtlab::cli
