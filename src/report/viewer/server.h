// The pages over HTTP, for browsers on this machine: bound to 127.0.0.1, behind a secret in the address,
// nothing but reading.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "report/viewer/collection.h"
#include "result/study.h"

namespace simtlab::report::viewer {

struct ServerOptions {
  std::uint16_t port = 0;  // 0: any that is free
  // A segment of every address; empty: a new one
  std::string secret;
  std::function<std::string(const result::Result&)> page;  // of a result
  // Of a sweep's database; may throw Error
  std::function<std::string(const std::filesystem::path&)> study;
  std::function<void(const std::string& address)> ready;  // it answers now
  const volatile bool* stop = nullptr;                    // looked at ten times a second
};

// Answers until *stop. Throws Error(failure, "view-port") if the port cannot be had.
void serve(Collection& collection, const ServerOptions& options);

// 32 hexadecimal digits from the system's random source.
std::string new_secret();

}  // namespace simtlab::report::viewer
