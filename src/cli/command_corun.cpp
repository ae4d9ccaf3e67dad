// simtlab corun: several applications on one GPU.
#include <CLI/CLI.hpp>

#include "cli/command_corun_live.h"
#include "cli/command_corun_model.h"

namespace simtlab::cli {

void add_corun(CLI::App& app, Action& chosen, const std::optional<std::vector<std::string>>& after_dashes) {
  CLI::App* corun = app.add_subcommand(
      "corun", "Run several applications on one GPU: policies compared in a model, or live");
  corun->require_subcommand(0, 1);
  add_corun_mixes(app, *corun, chosen);
  add_corun_interfere(*corun, chosen);
  add_corun_replay(*corun, chosen);
  add_corun_profile(*corun, chosen, after_dashes);
  add_corun_profiles(*corun, chosen);
  add_corun_serve(*corun, chosen);
  add_corun_exec(*corun, chosen, after_dashes);
  add_corun_top(*corun, chosen);
}

}  // namespace simtlab::cli
