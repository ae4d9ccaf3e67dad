#include "studies/sweep/pack.h"

#include <fmt/format.h>
#include <zstd.h>

#include "base/error.h"
#include "base/shown.h"
#include "result/json.h"

namespace simtlab::studies::sweep {

std::string packed(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  if (ZSTD_isError(size) != 0)
    throw Error(ExitCode::failure, "sweep-database",
                fmt::format("cannot compress a result: {}", ZSTD_getErrorName(size)));
  out.resize(size);
  return out;
}

std::string unpacked(std::string_view bytes, const std::string& file) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  const auto broken = [&] {
    return Error(ExitCode::bad_input, "sweep-database",
                 fmt::format("{}: a result in it is broken", shown(file)));
  };
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > result::max_json_bytes)
    throw broken();
  std::string out(size, '\0');
  if (ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size()) != size) throw broken();
  return out;
}

}  // namespace simtlab::studies::sweep
