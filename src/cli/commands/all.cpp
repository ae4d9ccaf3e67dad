#include "cli/commands/commands.h"
#include "cli/commands/frequent.h"
#include "studies/common/studies.h"

namespace simtlab::cli {
namespace {

constexpr const char* description =
    "simtlab: a GPU performance laboratory. Runs CUDA programs and PTX kernels on a simulated GPU and says "
    "how long they\n"
    "take and why.\n\n"
    "  simtlab run app.cu --gpu a100            compile and run a CUDA program\n"
    "  simtlab run -- ./app 1024                run an executable of nvcc\n"
    "  simtlab run kernel.ptx --launch l.toml   run one kernel without a host program\n"
    "  simtlab check -- ./tests                 races, bad accesses, leaks, coverage: CI without a GPU\n"
    "  simtlab cache app.cu --gpu gtx480        what it does to L1 and L2, and why it misses\n"
    "  simtlab dram TRACE --dram ddr4-3200      drive a memory on its own\n"
    "  simtlab predict --counts c.toml          analytical models from counts given by hand\n"
    "  simtlab corun --policy mps,shark         several applications on one GPU\n"
    "  simtlab sweep study.toml                 a command at many points, on all cores\n"
    "  simtlab validate timing                  the simulator beside published measurements\n"
    "  simtlab report RESULT.json --html=r.html a result as a page; --md, --csv, --sqlite, --timeline\n"
    "  simtlab compare A.json B.json            what differs between two results, and why\n"
    "  simtlab explain long_scoreboard          what a word of the report means\n";

}  // namespace

std::unique_ptr<Command> all_commands() {
  auto tool = std::make_unique<Command>("simtlab", description);
  tool->require_subcommand(1, 1);
  add_run(*tool);
  add_check(*tool);
  add_cache(*tool);
  add_build(*tool);
  add_nvcc(*tool);
  add_toolkit(*tool);
  add_suite(*tool);
  add_dram(*tool);
  add_disasm(*tool);
  add_predict(*tool);
  add_probe(*tool);
  add_corun(*tool);
  Command& corun = *tool->find_command("corun");
  add_corun_serve(corun);
  add_corun_exec(corun);
  add_corun_set(corun);
  add_corun_top(corun);
  add_sweep(*tool);
  add_trace(*tool);
  add_report(*tool);
  add_compare(*tool);
  add_view(*tool);
  add_rerun(*tool);
  add_list(*tool);
  add_config(*tool);
  add_explain(*tool);
  add_validate(*tool);
  add_doctor(*tool);
  add_completion(*tool);
  add_man(*tool);
  add_version(*tool);
  name_frequent_options(*tool);
  return tool;
}

}  // namespace simtlab::cli
