// What the output of builds and programs says.
#pragma once

#include <string>
#include <string_view>

namespace simtlab::studies {

// The first line that tells of an error, without colours; else the last line; empty: it said nothing.
std::string first_error(std::string_view text);

enum class Verdict : std::uint8_t { none, passed, failed };
struct Said {
  Verdict verdict = Verdict::none;
  std::string words;  // "PASSED", "FAILED"; of the first line that failed, else of the last that passed
};
// What a program says of its own result: lines with the words PASS(ED), SUCCESS, FAIL(ED), MISMATCH,
// INCORRECT, "test passed", "verification failed" and the like. "0 failed" is no failure.
Said verdict_of(std::string_view text);

}  // namespace simtlab::studies
