// Records what a GPU is asked for as a trace (docs/reference/traces.md); without a file it records nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "stream/trace/writer.h"

namespace simtlab::gpu {

class TraceRecorder {
 public:
  // file: empty for none. recorded_on: device and mode, for people.
  TraceRecorder(const std::filesystem::path& file, std::string recorded_on);

  bool active() const { return writer_ != nullptr; }
  stream::trace::Writer& writer() { return *writer_; }  // only where it is active

  struct Noted {
    bool flag = false;
    std::uint32_t stream = 0;
    std::uint64_t a = 0, b = 0;
  };
  void note(stream::trace::OpKind kind, const Noted& what) {
    if (writer_) write(kind, what);
  }
  void finish();  // completes the file; what comes later is not recorded. Throws Error(failure "file-write")

 private:
  void write(stream::trace::OpKind kind, const Noted& what);

  std::unique_ptr<stream::trace::Writer> writer_;
};

}  // namespace simtlab::gpu
