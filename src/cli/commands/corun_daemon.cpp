#include "cli/commands/corun_daemon.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/shown.h"
#include "corun/policy.h"

namespace simtlab::cli {
namespace {

[[noreturn]] void gone(const std::string& why) {
  throw Error(ExitCode::unavailable, "corun-daemon", why, "start one: simtlab corun serve --policy shark");
}

// A daemon of somebody else does not answer either: that is another thing than that there is none.
[[noreturn]] void no_socket(const std::filesystem::path& path, int reason) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0 ? found.st_uid != ::geteuid() : errno == EACCES)
    throw Error(
        ExitCode::unavailable, "corun-daemon",
        fmt::format("{} is another user's: whether a daemon runs there is not known, and it would not "
                    "answer",
                    shown(path.string())),
        "a daemon serves programs of its own user alone: start one with simtlab corun serve, in a "
        "directory of yours");
  gone(fmt::format("no daemon answers in {}{}", shown(path.string()),
                   reason == EACCES || reason == EPERM ? fmt::format(": {}", std::strerror(reason)) : ""));
}

// Of the policies that are known here: the daemon may have others.
[[noreturn]] void not_followed(const corun::live::Refused& refused) {
  const bool policy = refused.reason == corun::live::Refusal::policy;
  std::vector<std::string> names;
  for (const corun::Policy* p : corun::policies()) names.emplace_back(p->name);
  throw Error(ExitCode::usage, policy ? "corun-policy" : "option-conflict",
              fmt::format("the daemon says: {}; it goes on as before", shown(refused.text)),
              policy ? fmt::format("one of {}", fmt::join(names, ", "))
                     : "leave it out, or add --policy with the policy that it is for");
}

}  // namespace

DaemonLink::DaemonLink(const std::string& directory) {
  const std::filesystem::path path =
      directory.empty() ? corun::live::default_directory() : std::filesystem::path(directory);
  socket_ = corun::live::connect_to(path);
  if (!socket_) no_socket(path, errno);
  static_cast<void>(ask(
      corun::live::Hello{corun::live::protocol_version, corun::live::protocol_version, false, "simtlab"}));
}

corun::live::Message DaemonLink::ask(const corun::live::Message& message) {
  corun::live::Packet packet;
  corun::live::encode(message, packet);
  pollfd one{socket_.get(), POLLIN, 0};
  if (corun::live::send_packet(socket_.get(), packet.span()) != corun::live::Sent::yes ||
      ::poll(&one, 1, 5000) <= 0 || corun::live::receive_packet(socket_.get(), packet) <= 0)
    gone("the daemon does not answer");
  const corun::live::Decoded decoded = corun::live::decode(packet.span());
  if (!decoded.message)
    gone(fmt::format("what answers is no daemon of this version: a message is {}", decoded.fault));
  if (const auto* refused = std::get_if<corun::live::Refused>(&*decoded.message)) {
    if (refused->reason == corun::live::Refusal::policy || refused->reason == corun::live::Refusal::settings)
      not_followed(*refused);
    gone(fmt::format("the daemon refuses: {}", shown(refused->text)));
  }
  return *decoded.message;
}

corun::live::Stats DaemonLink::stats() {
  corun::live::Stats all;
  for (std::uint32_t first = 0;; first += corun::live::most_rows) {
    const corun::live::Message answer = ask(corun::live::StatsRequest{first});
    const auto* page = std::get_if<corun::live::Stats>(&answer);
    if (page == nullptr) gone("the daemon answers something else");
    all.totals = page->totals;
    all.rows.insert(all.rows.end(), page->rows.begin(), page->rows.end());
    if (page->rows.size() < corun::live::most_rows) return all;
  }
}

std::vector<corun::live::ApplicationRow> DaemonLink::applications() {
  std::vector<corun::live::ApplicationRow> all;
  for (std::uint32_t first = 0;; first += corun::live::most_applications) {
    const corun::live::Message answer = ask(corun::live::ApplicationsRequest{first});
    const auto* page = std::get_if<corun::live::Applications>(&answer);
    if (page == nullptr) gone("the daemon answers something else");
    all.insert(all.end(), page->rows.begin(), page->rows.end());
    if (page->rows.size() < corun::live::most_applications) return all;
  }
}

corun::live::Adjusted DaemonLink::adjust(const corun::live::Adjust& settings) {
  const corun::live::Message answer = ask(settings);
  const auto* adjusted = std::get_if<corun::live::Adjusted>(&answer);
  if (adjusted == nullptr) gone("the daemon answers something else");
  return *adjusted;
}

std::string DaemonLink::decisions(std::uint64_t& next) {
  std::string all;
  for (;;) {
    const corun::live::Message answer = ask(corun::live::LogRequest{next});
    const auto* page = std::get_if<corun::live::Log>(&answer);
    if (page == nullptr) gone("the daemon answers something else");
    next = page->next;
    if (page->text.empty()) return all;
    all += page->text;
  }
}

std::optional<corun::live::Totals> daemon_in(const std::string& directory) {
  try {
    return DaemonLink(directory).stats().totals;
  } catch (const Error&) { return std::nullopt; }
}

}  // namespace simtlab::cli
