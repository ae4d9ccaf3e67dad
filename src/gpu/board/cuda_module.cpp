#include "gpu/board/cuda_module.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/shown.h"

namespace simtlab::gpu::board {
namespace {

constexpr std::size_t log_bytes = 16384;
constexpr std::size_t shown_lines = 20;

std::vector<std::string> lines_of(std::string_view log) {
  std::vector<std::string> out;
  while (!log.empty() && out.size() < shown_lines) {
    const std::size_t end = log.find('\n');
    const std::string_view line = log.substr(0, end);
    if (line.find_first_not_of(" \r\t") != line.npos) out.push_back(shown(std::string(line)));
    log = end == log.npos ? std::string_view{} : log.substr(end + 1);
  }
  return out;
}

// "8.7", for the message; the driver's parser has the last word.
std::string ptx_version(std::string_view ptx) {
  const std::size_t at = ptx.find(".version");
  if (at == ptx.npos) return "?";
  const std::string_view rest = ptx.substr(at + 8, 16);
  const std::size_t begin = rest.find_first_not_of(" \t");
  return begin == rest.npos
             ? "?"
             : std::string(rest.substr(begin, rest.find_first_not_of("0123456789.", begin) - begin));
}

}  // namespace

ModuleHandle load_ptx(const Driver& d, const std::string& name, const std::string& ptx) {
  std::string error(log_bytes, '\0'), info(log_bytes, '\0');
  int names[] = {jit_error_log, jit_error_log_bytes, jit_info_log, jit_info_log_bytes};
  // Sizes are passed in the pointer itself
  void* const room = reinterpret_cast<void*>(std::uintptr_t{log_bytes - 1});
  void* values[] = {error.data(), room, info.data(), room};
  ModuleHandle module = nullptr;
  const Result result = d.module_load(&module, ptx.c_str(), std::size(names), names, values);
  if (result == success) return module;
  std::string doing = fmt::format("loading {}", shown(name));
  // Some drivers say so by number, some in the log only.
  const bool too_new =
      result == unsupported_ptx_version || error.find("Unsupported .version") != std::string::npos;
  if (too_new)
    doing = fmt::format("loading {}, which is PTX {} and too new for this driver ({})", shown(name),
                        ptx_version(ptx), d.text());
  const Error bare = error_of(d, too_new ? unsupported_ptx_version : result, doing);
  std::vector<Diagnostic> diagnostics = bare.diagnostics();
  for (const std::string& log : {std::string(error.c_str()), std::string(info.c_str())})
    for (const std::string& line : lines_of(log))
      diagnostics.push_back({"the driver's assembler: " + line, {}, {}, {}});
  throw Error(bare.code(), bare.id(), std::move(diagnostics));
}

}  // namespace simtlab::gpu::board
