// What a compiler or linker said that failed, cut to what somebody at a terminal wants to know.
#pragma once

#include <cstddef>
#include <string>

namespace simtlab::compile {

struct Diagnosis {
  std::string shown;  // the beginning of the messages, or those of the one error that explains the others
  std::size_t left_out = 0;  // lines that `shown` lacks
  // The first error in one line, without colours: "app.cu:3:5: error: ..."; may be empty
  std::string first;
  // What the program uses and simtlab does not have, in a header's words; empty: nothing of the kind
  std::string lacking;
  bool no_room = false;  // the disk is full
};

// most_lines: of `shown`, unless the messages are hardly longer.
Diagnosis diagnose(const std::string& messages, std::size_t most_lines);

}  // namespace simtlab::compile
