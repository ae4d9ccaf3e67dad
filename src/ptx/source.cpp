#include "ptx/source.h"

#include <algorithm>

namespace simtlab::ptx {

std::string_view Source::line_at(std::uint32_t offset) const {
  const std::string_view all = *text_;
  if (all.empty()) return {};
  const std::size_t at = std::min<std::size_t>(offset, all.size());
  const std::size_t before = at == 0 ? std::string_view::npos : all.rfind('\n', at - 1);
  const std::size_t mark = all.starts_with("\xef\xbb\xbf") ? 3 : 0;  // a byte order mark has no column
  const std::size_t first = before == std::string_view::npos ? std::min(mark, at) : before + 1;
  std::size_t last = all.find('\n', at);
  if (last == std::string_view::npos) last = all.size();
  if (last > first && all[last - 1] == '\r') --last;
  return all.substr(first, last - first);
}

Diagnostic Source::diagnostic(Place at, std::string message, std::string hint) const {
  // A machine-made line can be the whole file: the message needs the part around the column only.
  constexpr std::size_t longest = 4096;
  std::string line(line_at(at.offset).substr(0, longest));
  return Diagnostic{std::move(message), SourcePos{name_, at.line, at.column}, std::move(line),
                    std::move(hint)};
}

void Source::fail(Place at, std::string id, std::string message, std::string hint) const {
  throw Error(ExitCode::bad_input, std::move(id), diagnostic(at, std::move(message), std::move(hint)));
}

}  // namespace simtlab::ptx
