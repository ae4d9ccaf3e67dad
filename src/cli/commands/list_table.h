// Tables of `simtlab list`, as aligned text or as Markdown.
#pragma once

#include <string>
#include <vector>

namespace simtlab::cli {

struct ListFormat {
  bool markdown = false;
};

std::string list_table(const std::vector<std::string>& head,
                       const std::vector<std::vector<std::string>>& rows, const ListFormat& format);

}  // namespace simtlab::cli
