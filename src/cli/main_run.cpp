// simtlab-run: the part of the tool that `./dev demo` builds before the rest.
#include "cli/cli.h"
#include "studies/common/studies.h"

namespace {

std::unique_ptr<simtlab::studies::Command> run_alone() {
  auto tool = std::make_unique<simtlab::studies::Command>(
      "simtlab-run", "The part of simtlab that ./dev demo builds first; ./dev build makes all of it");
  tool->require_subcommand(1, 1);
  simtlab::studies::add_run(*tool);
  return tool;
}

}  // namespace

int main(int argc, char** argv) { return simtlab::cli::run(argc, argv, run_alone); }
