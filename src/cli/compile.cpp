#include "cli/compile.h"

#include <algorithm>

#include "cli/output.h"
#include "frontend/frontend.h"

namespace simtlab::cli {

std::filesystem::path compile(std::vector<std::string> arguments, const std::filesystem::path& output,
                              bool quiet, const std::string& architecture) {
  frontend::BuildRequest request;
  request.architecture = architecture;
  request.verbose =
      std::erase_if(arguments, [](const std::string& a) { return a == "-v" || a == "--verbose"; }) > 0;
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
