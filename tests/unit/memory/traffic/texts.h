// Traces in memory for the tests of this folder.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "memory/traffic/trace_reader.h"

namespace simtlab::memory::traffic {

// `text` must outlive the reader.
inline std::unique_ptr<TraceReader> reader(std::string_view text, const char* format = nullptr,
                                           std::string name = "t.trace") {
  return std::make_unique<TraceReader>(memory_bytes(text), std::move(name),
                                       format == nullptr ? nullptr : &format_named(format));
}

inline std::vector<Access> all(Source& source) {
  std::vector<Access> out;
  Access access;
  while (source.next(access)) out.push_back(access);
  return out;
}

inline std::string gzip(std::string_view text) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

inline std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

}  // namespace simtlab::memory::traffic
