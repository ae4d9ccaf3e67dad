// What a launch file says to be in a buffer, made piece by piece: buffers may be as large as the memory of
// the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "compile/launch_file.h"

namespace simtlab::hosts::cuda {

// Gets consecutive pieces of whole elements; `offset` is that of the first byte. May throw.
using TakePiece = std::function<void(std::uint64_t offset, std::span<const std::byte> piece)>;

struct ContentsRequest {
  const compile::LaunchArg& arg;
  const compile::Contents& contents;
  bool fill = false;           // values: the first one for every element
  std::uint64_t elements = 0;  // how many are made; all of the buffer for a file
  std::uint64_t seed = 0, stream = 0;
};

// Throws Error(bad_input, "launch-arguments") for a file of another size than the buffer, and the errors of
// reading it, at the place that names the file.
void make_contents(const ContentsRequest& request, const TakePiece& take);

// A number in an element's representation; integers wrap, as check_value left only fitting ones or iota's.
void store(std::byte* at, compile::ElementType type, const compile::Number& n);

}  // namespace simtlab::hosts::cuda
