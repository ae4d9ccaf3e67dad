#include "cli/commands/frequent.h"

#include <string>
#include <vector>

namespace simtlab::cli {

void name_frequent_options(studies::Command& tool) {
  const std::pair<const char*, std::vector<std::string>> all[] = {
      {"run",
       {"--gpu", "--set", "--mode", "--dram", "--lines", "--what-if", "--sample", "--kernels", "--launch",
        "--grid", "--block", "--arg", "--json", "--output"}},
      {"cache",
       {"--gpu", "--set", "--order", "--prefetch", "--plot", "--sweep", "--compare", "--grid", "--block",
        "--arg", "--json", "--output"}},
      {"check",
       {"--gpu", "--checks", "--explore", "--level", "--kernel-name", "--suppressions", "--baseline",
        "--write-baseline", "--coverage-min", "--sarif", "--junit", "--lcov", "--html", "--github",
        "--launch", "--json", "--output"}},
      {"predict",
       {"--gpu", "--counts", "--model", "--explain", "--static", "--sweep", "--loop", "--params", "--run",
        "--simulate", "--grid", "--block", "--arg", "--json"}},
      {"dram",
       {"--dram", "--channels", "--controller", "--generate", "--requests", "--read-share", "--sweep-load",
        "--timeline", "--check", "--json", "--output"}},
      {"corun",
       {"--policy", "--limit", "--mix", "--mixes", "--size", "--profiles", "--host", "--gpu",
        "--applications", "--log", "--json"}},
      {"probe",
       {"--gpu", "--device", "--quick", "--only", "--method", "--base", "--curves", "--analyse", "--compare",
        "--output", "--json"}},
      {"sweep",
       {"--axis", "--kernels", "--design", "--points", "--constraint", "--repeats", "--metric", "--minimise",
        "--maximise", "--db", "--jobs", "--retry-failed", "--engine", "--html", "--json", "--csv"}},
  };
  for (const auto& [command, options] : all) tool.find_command(command)->frequent(options);
}

}  // namespace simtlab::cli
