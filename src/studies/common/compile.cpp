#include "studies/common/compile.h"

#include <unistd.h>

#include <algorithm>

#include "compile/frontend.h"
#include "compile/nvcc_options.h"
#include "compile/process.h"
#include "studies/common/host.h"
#include "studies/common/output.h"
#include "studies/common/progress.h"
#include "studies/common/relay.h"
#include "studies/common/terminal_text.h"

namespace simtlab::studies {
namespace {

// With a row that says that it goes on; the compiler's messages go past it.
compile::BuildResult build_shown(const compile::BuildRequest& request, const OutputOptions& shown) {
  Relay relay(host() == nullptr && Progress::row_wanted(shown));
  const compile::MessagesTo messages(relay.in_place_of(STDERR_FILENO));
  relay.begin();
  const Progress progress("compiling", shown, {nullptr, !relay.possible(), {}, {}}, Progress::Stopped::loses);
  return compile::build(request);
}

}  // namespace

std::filesystem::path build_sources(std::vector<std::string> arguments, const std::filesystem::path& output,
                                    const OutputOptions& shown, const std::string& architecture) {
  arguments = compile::with_values_joined(arguments);  // the -v of -Xptxas -v is none of ours
  compile::BuildRequest request;
  request.architecture = architecture;
  request.verbose =
      std::erase_if(arguments, [](const std::string& a) { return a == "-v" || a == "--verbose"; }) > 0;
  request.arguments = std::move(arguments);
  request.output = output;
  request.colour = style_for(STDERR_FILENO, shown.color).colour;
  request.tell = [](const std::string& messages) { talk(messages); };
  const compile::BuildResult built = build_shown(request, shown);
  for (const std::string& command : built.commands) talk(command + "\n");
  if (!built.dependencies.empty()) write_stream(STDOUT_FILENO, terminal_text(built.dependencies));
  if (!shown.quiet)
    for (const std::string& note : built.notes) talk("note: " + note + "\n");
  return built.executable;
}

bool is_source(const std::string& argument) {
  if (argument.starts_with("-")) return false;
  const std::string extension = std::filesystem::path(argument).extension();
  static constexpr const char* known[] = {".cu", ".c", ".cc", ".cpp", ".cxx", ".o", ".a"};
  return std::ranges::find(known, extension) != std::end(known);
}

}  // namespace simtlab::studies
