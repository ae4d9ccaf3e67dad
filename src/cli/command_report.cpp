// simtlab report FILE: prints a result file again, as text, JSON or CSV.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/files.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "result/json.h"

namespace simtlab::cli {
namespace {

int report(const std::string& file, OutputOptions options) {
  check_outputs(options);
  const std::string name = file == "-" ? "/dev/stdin" : file;
  check_inputs(options, {name});
  write_outputs(result::result_from_json(read_file(name, result::max_json_bytes, "result file"), name),
                options, STDOUT_FILENO);
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand("report", "Print a result file (--json=FILE of run) again");
  const auto file = std::make_shared<std::string>();
  const auto options = std::make_shared<OutputOptions>();
  sub->add_option("RESULT", *file, "Result file; - is stdin")->required();
  add_output_options(*sub, *options);
  sub->callback([&chosen, file, options] { chosen = [file, options] { return report(*file, *options); }; });
}

}  // namespace simtlab::cli
