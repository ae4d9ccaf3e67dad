// The content of a segment from the streams of a block's warps.
#pragma once

#include <span>

#include "stream/trace/warp_code.h"

namespace simtlab::stream::trace {

// Takes the bytes that the encoders hold; their warps may go on afterwards.
inline Buffer take_segment(std::span<WarpEncoder> warps) {
  Buffer content(1, 1);  // the first byte: never taken for a zstd dictionary with a header
  put_number(content, warps.size());
  for (WarpEncoder& warp : warps) {
    warp.cut();
    put_number(content, warp.control().size());
    put_number(content, warp.data().size());
  }
  for (const WarpEncoder& warp : warps)
    content.insert(content.end(), warp.control().begin(), warp.control().end());
  for (WarpEncoder& warp : warps) {
    content.insert(content.end(), warp.data().begin(), warp.data().end());
    warp.take();
  }
  return content;
}

}  // namespace simtlab::stream::trace
