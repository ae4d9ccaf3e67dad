// simtlab nvcc: nvcc's command line for build systems; simtlab toolkit: a folder in which it is bin/nvcc.
#include <fmt/format.h>
#include <sys/auxv.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "cli/commands/commands.h"
#include "compile/nvcc_driver.h"
#include "compile/toolchain.h"
#include "studies/common/command.h"
#include "studies/common/compile.h"
#include "studies/common/manifest.h"
#include "studies/common/output.h"
#include "studies/toolkit/parts.h"
#include "studies/toolkit/toolkit.h"

namespace simtlab::cli {
namespace {

namespace fs = std::filesystem;

bool has(const std::vector<std::string>& words, std::initializer_list<const char*> names) {
  return std::ranges::any_of(
      words, [&](const std::string& w) { return std::ranges::find(names, w) != names.end(); });
}

int nvcc(std::vector<std::string> words) {
  if (has(words, {"--version", "-V"})) {
    print(compile::nvcc_version_text(version()));
    return 0;
  }
  if (has(words, {"-v", "--verbose"})) {
    const auto* const started_as = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    const fs::path toolkit = compile::toolkit_of(started_as == nullptr ? "" : started_as);
    if (!toolkit.empty()) talk(compile::nvcc_verbose_text(toolkit, words));
  }
  const std::vector<std::string> macros = compile::nvcc_macros();
  words.insert(words.begin(), macros.begin(), macros.end());
  OutputOptions quiet;  // a build system has no use for notes on options without effect
  quiet.quiet = true;
  build_sources(std::move(words), {}, quiet);
  return 0;
}

}  // namespace

void add_nvcc(Command& app) {
  Command* sub =
      app.add_subcommand("nvcc", "nvcc's command line for makefiles and CMake: as `build`, without notes");
  sub->prefix_command();
  sub->footer("`simtlab toolkit --prefix DIR` lays out a folder with it as DIR/bin/nvcc.");
  sub->action([](const Call& call) { return nvcc(call.rest); });
}

void add_toolkit(Command& app) {
  Command* sub = app.add_subcommand(
      "toolkit", "Lay out a folder as a CUDA toolkit whose nvcc and libcudart are simtlab's");
  const auto prefix = std::make_shared<std::string>();
  sub->add_option("--prefix", *prefix, "The folder: empty, not there, or written by this command before")
      ->required()
      ->check(output_folder())
      ->type_name("FOLDER");
  sub->footer(
      "Makefiles: make NVCC=DIR/bin/nvcc CUDA_PATH=DIR, or PATH=DIR/bin:$PATH make\n"
      "CMake:     cmake -DCMAKE_CUDA_COMPILER=DIR/bin/nvcc ...\n"
      "Programs that are built so run with `simtlab run -- ./app`.");
  sub->action([prefix](const Call&) {
    studies::lay_out_toolkit(*prefix, toolkit_parts());
    return 0;
  });
}

}  // namespace simtlab::cli
