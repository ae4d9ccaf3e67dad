// What the daemon decided, as a picture: JSON of the Chrome trace format, which ui.perfetto.dev opens. A
// client is a process, a stream of it a thread; each launch is a slice with the kernel's name from its grant
// to its end. Waiting is an asynchronous slice: several launches of a stream may wait at once. Launches on
// the daemon's simulated GPU are drawn by its clock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "base/files.h"
#include "corun/live/core.h"

namespace simtlab::corun::live {

class Timeline {
 public:
  static constexpr std::uint64_t most_launches = 2'000'000;
  explicit Timeline(const std::filesystem::path& path);
  void add(const Core::Span& span);
  // The file has its name from now on. Throws Error(failure, "file-write").
  void close();

 private:
  void event(const std::string& json);
  FileWriter out_;
  // A stream's row: streams are handles of 64 bits, rows small numbers.
  std::uint32_t row_of(const Core::Span& span);
  std::map<ClientId, std::map<std::uint64_t, std::uint32_t>> rows_;
  std::uint64_t launches_ = 0, left_out_ = 0;
  bool first_ = true;
};

}  // namespace simtlab::corun::live
