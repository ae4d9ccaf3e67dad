#include "gpu/trace_recorder.h"

#include <utility>

namespace simtlab::gpu {

TraceRecorder::TraceRecorder(const std::filesystem::path& file, std::string recorded_on) {
  if (!file.empty()) writer_ = std::make_unique<stream::trace::Writer>(file, std::move(recorded_on));
}

void TraceRecorder::write(stream::trace::OpKind kind, const Noted& what) {
  writer_->operation(
      {.kind = kind, .flag = what.flag, .stream = what.stream, .a = what.a, .b = what.b, .kernel = {}});
}

void TraceRecorder::finish() {
  if (writer_) writer_->close();
  writer_.reset();
}

}  // namespace simtlab::gpu
