// simtlab view RESULT...: results in the browser, many at once, and runs while they go on.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "cli/commands/commands.h"
#include "report/html.h"
#include "report/study.h"
#include "report/viewer/server.h"
#include "studies/common/command.h"
#include "studies/common/output.h"
#include "studies/common/signals.h"
#include "studies/predict/occupancy_curves.h"
#include "studies/sweep/command/options.h"

namespace simtlab::cli {
namespace {

struct ViewOptions {
  std::vector<std::string> files;
  std::uint32_t port = 0;
};

int view_results(const ViewOptions& o) {
  if (o.port > 65535)
    throw Error(ExitCode::usage, "option-value", fmt::format("--port {} is no port", o.port),
                "0 takes one that is free");
  simtlab::report::viewer::Collection collection({o.files.begin(), o.files.end()});
  const Signals signals(0);
  simtlab::report::viewer::ServerOptions options;
  options.port = static_cast<std::uint16_t>(o.port);
  options.stop = signals.flag();
  options.page = [](const result::Result& r) { return report::html(r, {occupancy_curves(r)}); };
  options.study = [](const std::filesystem::path& path) {
    const studies::sweep::Store store(path, studies::sweep::Store::Mode::read);
    return report::study_html(studies::sweep::summary(store, {}));
  };
  options.ready = [&](const std::string& address) {
    print(address + "\n");
    talk(
        fmt::format("{} files. Open the address in a browser on this machine; whoever has it can read the "
                    "results. Ctrl-C ends.\n",
                    collection.entries().size()));
  };
  simtlab::report::viewer::serve(collection, options);
  return 0;
}

}  // namespace

void add_view(Command& app) {
  Command* sub = app.add_subcommand("view",
                                    "Result files, sweeps and running simulations in the browser: a table "
                                    "with filters, comparisons, every report");
  const auto o = std::make_shared<ViewOptions>();
  sub->add_option("RESULT", o->files,
                  "Result files (--json=FILE), files of running simulations (--live FILE), databases of "
                  "sweeps, or folders of them")
      ->required();
  sub->add_option("--port", o->port, "Port on 127.0.0.1 (default 0: one that is free)")->type_name("N");
  sub->footer(
      "The address is printed on stdout. It holds a secret that is new in every start; nothing but this "
      "machine can reach it.");
  sub->action([o](const Call&) { return view_results(*o); });
}

}  // namespace simtlab::cli
