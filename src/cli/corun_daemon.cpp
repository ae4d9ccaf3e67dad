#include "cli/corun_daemon.h"

#include <fmt/format.h>
#include <poll.h>

#include "base/error.h"
#include "base/shown.h"

namespace simtlab::cli {
namespace {

[[noreturn]] void gone(const std::string& why) {
  throw Error(ExitCode::unavailable, "corun-daemon", why, "start one: simtlab corun serve --policy shark");
}

}  // namespace

DaemonLink::DaemonLink(const std::string& directory) {
  const std::filesystem::path path =
      directory.empty() ? live::default_directory() : std::filesystem::path(directory);
  socket_ = live::connect_to(path);
  if (!socket_) gone(fmt::format("no daemon answers in {}", shown(path.string())));
  static_cast<void>(ask(live::Hello{live::protocol_version, live::protocol_version, false, "simtlab"}));
}

live::Message DaemonLink::ask(const live::Message& message) {
  live::Packet packet;
  live::encode(message, packet);
  pollfd one{socket_.get(), POLLIN, 0};
  if (live::send_packet(socket_.get(), packet.span()) != live::Sent::yes || ::poll(&one, 1, 5000) <= 0 ||
      live::receive_packet(socket_.get(), packet) <= 0)
    gone("the daemon does not answer");
  const live::Decoded decoded = live::decode(packet.span());
  if (!decoded.message)
    gone(fmt::format("what answers is no daemon of this version: a message is {}", decoded.fault));
  if (const auto* refused = std::get_if<live::Refused>(&*decoded.message))
    gone(fmt::format("the daemon refuses: {}", shown(refused->text)));
  return *decoded.message;
}

live::Stats DaemonLink::stats() {
  live::Stats all;
  for (std::uint32_t first = 0;; first += live::most_rows) {
    const live::Message answer = ask(live::StatsRequest{first});
    const auto* page = std::get_if<live::Stats>(&answer);
    if (page == nullptr) gone("the daemon answers something else");
    all.totals = page->totals;
    all.rows.insert(all.rows.end(), page->rows.begin(), page->rows.end());
    if (page->rows.size() < live::most_rows) return all;
  }
}

std::vector<live::ApplicationRow> DaemonLink::applications() {
  std::vector<live::ApplicationRow> all;
  for (std::uint32_t first = 0;; first += live::most_applications) {
    const live::Message answer = ask(live::ApplicationsRequest{first});
    const auto* page = std::get_if<live::Applications>(&answer);
    if (page == nullptr) gone("the daemon answers something else");
    all.insert(all.end(), page->rows.begin(), page->rows.end());
    if (page->rows.size() < live::most_applications) return all;
  }
}

std::string DaemonLink::decisions(std::uint64_t& next) {
  std::string all;
  for (;;) {
    const live::Message answer = ask(live::LogRequest{next});
    const auto* page = std::get_if<live::Log>(&answer);
    if (page == nullptr) gone("the daemon answers something else");
    next = page->next;
    if (page->text.empty()) return all;
    all += page->text;
  }
}

std::optional<live::Totals> daemon_in(const std::string& directory) {
  try {
    return DaemonLink(directory).stats().totals;
  } catch (const Error&) { return std::nullopt; }
}

}  // namespace simtlab::cli
