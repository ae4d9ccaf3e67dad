// --live FILE: what a run is doing, a JSON object a line (docs/guide/view.md). The first says what it is, the
// last what became of it; between them is a row every quarter of a second, more seldom the longer it takes,
// so that the file stays small.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "base/pulse.h"
#include "base/temporary.h"

namespace simtlab::studies {

class LiveFile {
 public:
  // Replaces a file of that name. Throws Error(failure, "file-write").
  LiveFile(const std::filesystem::path& path, const std::string& device, const std::string& mode);
  LiveFile(const LiveFile&) = delete;
  LiveFile& operator=(const LiveFile&) = delete;

  // A row, if it is time for one.
  void look(const PulseReading& reading, double seconds);
  // The last two. Says on stderr if the file is not whole (full disk); the run goes on without.
  void end(const PulseReading& reading, double seconds, const std::string& how);

 private:
  void row(const PulseReading& reading, double seconds);
  void write(const std::string& line);

  std::string path_;
  TemporaryFile file_;  // has its name from the first line on
  double next_ = 0, interval_ = 0.25;
  unsigned rows_ = 0;
  bool ended_ = false;
  int error_ = 0;
};

}  // namespace simtlab::studies
