// Texts of single accesses as traces of simtlab: what an instrumented kernel wrote down, in whatever order
// its threads ran (Crawford 2014, listing 5.1), or what a scheduler made of it (listing 5.3).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stream/trace/writer.h"

namespace simtlab::stream::access_text {

// NAME.trace
bool is_access_text(const std::string& file);

// Threads become warps of 32 in the order of their numbers in the group; of the accesses that a warp's
// threads have next, those of one instruction in one iteration of its loops are one instruction of the warp,
// the earliest first. Throws Error(bad_input, "access-text").
struct Imported {
  std::uint64_t kernels = 0, accesses = 0;
};
Imported import(const std::filesystem::path& file, trace::Writer& to, const volatile bool* stop);

}  // namespace simtlab::stream::access_text
