#include "studies/common/live_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "result/json.h"
#include "studies/common/manifest.h"
#include "studies/common/output.h"

namespace simtlab::studies {
namespace {

constexpr unsigned rows_before_slower = 2000;

}  // namespace

LiveFile::LiveFile(const std::filesystem::path& path, const std::string& device, const std::string& mode)
    // Whoever follows an older file of that name goes on reading it. Its successor appears with its first
    // line.
    : path_(path.string()), file_(path, 0666) {
  ::fcntl(file_.descriptor(), F_SETFL, O_APPEND);
  write(fmt::format(
      "{{\"simtlab_live\":1,\"command\":{},\"device\":{},\"mode\":{},\"process\":{},\"version\":{}}}\n",
      result::json_string(typed_command()), result::json_string(device), result::json_string(mode),
      ::getpid(), result::json_string(version())));
  if (error_ == 0) error_ = file_.publish();
  if (error_ != 0) cannot_write(path, error_);
}

void LiveFile::look(const PulseReading& reading, double seconds) {
  if (seconds < next_) return;
  next_ = seconds + interval_;
  if (++rows_ % rows_before_slower == 0) interval_ *= 2;
  row(reading, seconds);
}

void LiveFile::end(const PulseReading& reading, double seconds, const std::string& how) {
  if (std::exchange(ended_, true)) return;
  row(reading, seconds);
  write(fmt::format("{{\"seconds\":{:.3f},\"end\":{}}}\n", seconds, result::json_string(how)));
  if (error_ != 0)
    talk(fmt::format("note: --live {}: {}; the file is not whole\n", shown(path_), std::strerror(error_)));
}

void LiveFile::row(const PulseReading& r, double seconds) {
  write(fmt::format(
      "{{\"seconds\":{:.3f},\"kernel\":{},\"launches\":{},\"blocks\":{},\"of_blocks\":{},\"cycles\":{},"
      "\"instructions\":{}}}\n",
      seconds, result::json_string(r.kernel), r.launches, r.blocks, r.of_blocks, r.cycles, r.instructions));
}

void LiveFile::write(const std::string& line) {
  if (error_ != 0) return;
  // One call a line: a reader sees whole lines but for the last.
  const ssize_t written = ::write(file_.descriptor(), line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) error_ = written < 0 ? errno : ENOSPC;
}

}  // namespace simtlab::studies
