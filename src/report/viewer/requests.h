// What a request is answered with; knows nothing of sockets.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/viewer/server.h"

namespace simtlab::report::viewer {

struct Answer {
  int status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body;
  std::string location;  // of a redirection
};

// Of the part behind '?': values by name, in their order. Bytes that are no %XX stay as they are.
std::multimap<std::string, std::string> query_of(std::string_view text);

// target: path and query as they came, "/SECRET/compare?id=1&id=2". Never throws.
Answer answer(Collection& collection, const ServerOptions& options, std::string_view target);

}  // namespace simtlab::report::viewer
