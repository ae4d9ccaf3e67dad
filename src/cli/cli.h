// The command line: one file per sub-command (command_*.cpp), what they share in options.h, output.h and
// signals.h. Only this folder prints and exits. stdout is data, stderr is talk.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace simtlab::cli {

// What the chosen sub-command does; returns the exit code or throws Error.
using Action = std::function<int()>;

// after_dashes: what followed `--` on the command line, which belongs to the simulated program; nullopt:
// there was no `--`.
void add_run(CLI::App& app, Action& chosen, const std::optional<std::vector<std::string>>& after_dashes);
void add_cache(CLI::App& app, Action& chosen, const std::optional<std::vector<std::string>>& after_dashes);
void add_build(CLI::App& app, Action& chosen);
void add_nvcc(CLI::App& app, Action& chosen);
void add_toolkit(CLI::App& app, Action& chosen);
void add_suite(CLI::App& app, Action& chosen);
void add_report(CLI::App& app, Action& chosen);
void add_view(CLI::App& app, Action& chosen);
void add_compare(CLI::App& app, Action& chosen);
void add_rerun(CLI::App& app, Action& chosen);
void add_completion(CLI::App& app, Action& chosen);
void add_man(CLI::App& app, Action& chosen);
void add_list(CLI::App& app, Action& chosen);
void add_config(CLI::App& app, Action& chosen);
void add_dram(CLI::App& app, Action& chosen);
void add_predict(CLI::App& app, Action& chosen, const std::optional<std::vector<std::string>>& after_dashes);
void add_corun(CLI::App& app, Action& chosen, const std::optional<std::vector<std::string>>& after_dashes);
void add_sweep(CLI::App& app, Action& chosen, const std::optional<std::vector<std::string>>& after_dashes);
void add_trace(CLI::App& app, Action& chosen);
void add_probe(CLI::App& app, Action& chosen);
void add_explain(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);
void add_validate(CLI::App& app, Action& chosen);
void add_version(CLI::App& app, Action& chosen);

// Throws the usage error for an argument that the chosen command does not take, naming the nearest option.
[[noreturn]] void unexpected_argument(const CLI::App& app, const std::string& argument);

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
