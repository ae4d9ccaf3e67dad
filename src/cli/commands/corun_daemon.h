// A connection to the daemon for commands that only ask.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corun/live/protocol.h"

namespace simtlab::cli {

class DaemonLink {
 public:
  // Throws Error(unavailable, "corun-daemon") if there is none, or as soon as it goes.
  explicit DaemonLink(const std::string& directory);
  corun::live::Stats stats();  // rows of all clients
  std::vector<corun::live::ApplicationRow> applications();
  std::string decisions(std::uint64_t& next);  // lines from that number on; next: after them
  // Throws Error(usage, "corun-policy" or "option-conflict") for what the daemon cannot follow; nothing has
  // changed then.
  corun::live::Adjusted adjust(const corun::live::Adjust& settings);

 private:
  corun::live::Message ask(const corun::live::Message& message);
  corun::live::Descriptor socket_;
};

// The daemon's policy and the like; none: no daemon is there.
std::optional<corun::live::Totals> daemon_in(const std::string& directory);

}  // namespace simtlab::cli
