// The command line: what words mean (parser.h), commands about the tool itself (command_*.cpp), and what
// stands beside them: help, completion, man pages. Studies declare their commands themselves (studies/). Only
// this folder prints and exits. stdout is data, stderr is talk.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/deliver.h"
#include "studies/common/command.h"

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
void add_corun_top(Command& corun);

// The tool with all its commands.
std::unique_ptr<Command> all_commands();

// Whether the words are a command that could be run; nothing is. Throws Error(usage) as parse_and_run does.
bool understood(const std::vector<std::string>& words);

// Whether what the words ask for reads the option ("seed"); nothing is run. True as well for words that are
// wrong: running them says what is.
bool reads(const std::vector<std::string>& words, const std::string& option);

// Parses and runs a command line without the tool's name. Returns the exit code or throws Error.
int parse_and_run(const std::vector<std::string>& words);

// Parses, runs, prints errors; never throws.
int run(int argc, char** argv);

}  // namespace simtlab::cli
