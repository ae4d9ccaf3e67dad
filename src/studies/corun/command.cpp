// simtlab corun: several applications on one GPU.

#include "studies/common/command.h"

#include "studies/corun/model_commands.h"

namespace simtlab::studies {

void add_corun(Command& app) {
  Command* corun = app.add_subcommand(
      "corun", "Run several applications on one GPU: policies compared in a model, or live");
  corun->require_subcommand(0, 1);
  corun->embeds();
  add_corun_mixes(*corun);
  add_corun_interfere(*corun);
  add_corun_replay(*corun);
  add_corun_profile(*corun);
  add_corun_profiles(*corun);
  add_corun_live(*corun);
}

}  // namespace simtlab::studies
