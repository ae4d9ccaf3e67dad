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

// Makes a tool with its commands: all of them (commands/commands.h), or some.
using Maker = std::unique_ptr<Command> (*)();

// Whether the words are a command that could be run; nothing is. Throws Error(usage) as parse_and_run does.
bool understood(Maker tool, const std::vector<std::string>& words);

// Whether what the words ask for reads the option ("seed"); nothing is run. True as well for words that are
// wrong: running them says what is.
bool reads(Maker tool, const std::vector<std::string>& words, const std::string& option);

// Parses and runs a command line without the tool's name. Returns the exit code or throws Error.
int parse_and_run(Maker tool, const std::vector<std::string>& words);

// Parses, runs, prints errors; never throws.
int run(int argc, char** argv, Maker tool);

}  // namespace simtlab::cli
