#include "cli/compile.h"

#include <algorithm>

#include "cli/output.h"
#include "frontend/frontend.h"

namespace simtlab::cli {
namespace {

// `-o app.cu` would replace the source by its own product.
void check_output(const std::vector<std::string>& arguments) {
  OutputOptions output;
  std::vector<std::filesystem::path> sources;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if ((a == "-o" || a == "--output-file") && i + 1 < arguments.size())
      output.output = arguments[++i];
    else if (a.starts_with("-o") && a.size() > 2)
      output.output = a.substr(2);
    else if (is_source(a))
      sources.emplace_back(a);
  }
  check_inputs(output, sources);
}

}  // namespace

std::filesystem::path compile(std::vector<std::string> arguments, const std::filesystem::path& output,
                              bool quiet) {
  frontend::BuildRequest request;
  request.verbose =
      std::erase_if(arguments, [](const std::string& a) { return a == "-v" || a == "--verbose"; }) > 0;
  check_output(arguments);
  request.arguments = std::move(arguments);
  request.output = output;
  const frontend::BuildResult built = frontend::build(request);
  for (const std::string& command : built.commands) talk(command + "\n");
  if (!quiet)
    for (const std::string& note : built.notes) talk("note: " + note + "\n");
  return built.executable;
}

bool is_source(const std::string& argument) {
  if (argument.starts_with("-")) return false;
  const std::string extension = std::filesystem::path(argument).extension();
  static constexpr const char* known[] = {".cu", ".c", ".cc", ".cpp", ".cxx", ".o", ".a"};
  return std::ranges::find(known, extension) != std::end(known);
}

}  // namespace simtlab::cli
