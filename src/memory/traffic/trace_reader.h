// A trace file as a source: any of the formats, plain or compressed, in bounded memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "memory/traffic/bytes.h"
#include "memory/traffic/formats.h"
#include "memory/traffic/lines.h"
#include "memory/traffic/source.h"

namespace simtlab::memory::traffic {

class TraceReader : public Source {
 public:
  // name: for messages. format: null to find out. Throws Error(bad_input): "trace-unknown" if no format fits,
  // "trace-empty", and what the stream's own reading throws.
  TraceReader(std::unique_ptr<Bytes> raw, std::string name, const Format* format = nullptr);

  // Throws Error(bad_input) with file, line and column: "trace-syntax", "trace-order" (a cycle before the one
  // of the line above), and those of Lines.
  bool next(Access& access) override;
  Pace pace() const override { return format_->pace; }
  Diagnostic place() const override;

  const Format& format() const { return *format_; }
  std::string_view compression() const { return lines_.compression(); }

 private:
  bool next_line();
  [[noreturn]] void refuse(const Cursor& cursor) const;
  [[noreturn]] void goes_back() const;

  Lines lines_;
  const Format* format_;
  std::string_view line_;
  LineAccesses accesses_;
  bool taken_ = false;   // the first of accesses_ was given
  bool second_ = false;  // of accesses_ comes next
  std::uint64_t cycle_ = 0;
};

// path "-": standard input. stop: ends the wait for a pipe (base/files.h).
std::unique_ptr<TraceReader> open_trace(const std::string& path, const Format* format = nullptr,
                                        const volatile bool* stop = nullptr);

}  // namespace simtlab::memory::traffic
