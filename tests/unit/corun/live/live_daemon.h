// A daemon in a thread, clients of it, and peers that speak for themselves.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "corun/live/client.h"
#include "corun/live/server.h"

namespace simtlab::corun::live {

struct Folder {
  Folder() {
    char name[] = "/tmp/simtlab-live-XXXXXX";
    path = std::filesystem::path(::mkdtemp(name)) / "run";
  }
  ~Folder() { std::filesystem::remove_all(path.parent_path()); }
  std::filesystem::path path;
};

// A daemon in a thread.
struct Running {
  explicit Running(const std::filesystem::path& directory, const char* policy = "mps",
                   std::uint32_t limit = 8, ServerOptions options = {}) {
    corun::Settings settings;
    settings.limit = limit;
    options.directory = directory;
    server = std::make_unique<Server>(corun::policy(policy), settings, std::move(options));
    log = server->core().log(0).text;
    server->core().on_decision = [this](std::string_view line) { log += std::string(line) + "\n"; };
    thread = std::thread([this] { server->run(); });
  }
  ~Running() { stop(); }
  void stop() {
    if (!thread.joinable()) return;
    server->stop();
    thread.join();
  }
  Totals end() {
    stop();
    return server->core().stats(0, server->now_ns()).totals;
  }
  std::string log;
  std::unique_ptr<Server> server;
  std::thread thread;
};

inline ClientOptions to(const std::filesystem::path& directory, bool strict = false) {
  ClientOptions out;
  out.directory = directory;
  out.program = "test";
  out.strict = strict;
  out.retry_ns = 2'000'000;
  return out;
}

// A peer that speaks for itself.
struct Raw {
  explicit Raw(const std::filesystem::path& directory) : socket(connect_to(directory)) {}
  bool say(const Message& message) {
    Packet packet;
    encode(message, packet);
    return send_packet(socket.get(), packet.span()) == Sent::yes;
  }
  bool bytes(std::string_view text) {
    return send_packet(socket.get(), std::as_bytes(std::span(text))) == Sent::yes;
  }
  std::optional<Message> hear(int milliseconds = 5000) {
    pollfd one{socket.get(), POLLIN, 0};
    if (::poll(&one, 1, milliseconds) <= 0) return std::nullopt;
    Packet packet;
    if (receive_packet(socket.get(), packet) <= 0) return std::nullopt;
    return decode(packet.span()).message;
  }
  bool greet() {
    return say(Hello{protocol_version, protocol_version, false, "raw"}) && say(Register{0, 0, 0, "k"}) &&
           hear().has_value();
  }
  Descriptor socket;
};

}  // namespace simtlab::corun::live
