// Commands about the tool itself, and the tool with all its commands.
#pragma once

#include <memory>

#include "cli/cli.h"

namespace simtlab::cli {

void add_build(Command& app);
void add_nvcc(Command& app);
void add_toolkit(Command& app);
void add_report(Command& app);
void add_view(Command& app);
void add_compare(Command& app);
void add_rerun(Command& app);
void add_completion(Command& app);
void add_man(Command& app);
void add_list(Command& app);
void add_config(Command& app);
void add_doctor(Command& app);
void add_version(Command& app);
// The live part of `simtlab corun`: the daemon, programs whose launches ask it, what it does.
void add_corun_serve(Command& corun);
void add_corun_exec(Command& corun);
void add_corun_set(Command& corun);
void add_corun_top(Command& corun);

std::unique_ptr<Command> all_commands();

}  // namespace simtlab::cli
