// A text of every access of a cache study: "WARP_SIZE GROUPS" before each launch, then an access a line,
// "0x83BD000 R GROUP WARP INSTRUCTION" (docs/reference/traces.md).
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "base/files.h"
#include "cache/access_log.h"

namespace simtlab::gpu {

class ScheduleFile final : public cache::AccessLog {
 public:
  explicit ScheduleFile(const std::filesystem::path& path) : file_(path) {}

  void begin(std::uint32_t warp_size, std::uint64_t blocks) override {
    line_.clear();
    fmt::format_to(std::back_inserter(line_), "{} {}\n", warp_size, blocks);
    file_.write(line_);
  }
  void access(std::uint64_t address, bool store, std::uint64_t block, std::uint32_t warp,
              std::uint32_t instruction) override {
    line_.clear();
    fmt::format_to(std::back_inserter(line_), "0x{:X} {} {} {} {}\n", address, store ? 'W' : 'R', block, warp,
                   instruction);
    file_.write(line_);
  }
  // The file has its name from then on.
  void close() {
    if (!closed_) file_.close();
    closed_ = true;
  }

 private:
  FileWriter file_;
  std::string line_;
  bool closed_ = false;
};

}  // namespace simtlab::gpu
