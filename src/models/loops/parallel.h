// Which loops of a nest may become threads: for the given sizes the question is answered exactly, by looking
// for two iterations that touch the same bytes, one of them writing.
#pragma once

#include <string>
#include <vector>

#include "models/loops/shape.h"

namespace simtlab::models::loops {

// Bytes that a run found touched from an input; low == high: none.
struct Touched {
  std::uint64_t low = 0, high = 0;
  bool written = false;
};

enum class Verdict : unsigned char { parallel, unproven, carried };

struct Finding {
  int a = 0, b = 0;  // accesses
  int loop = 0;      // that carries, or may carry, the dependence
  Verdict verdict = Verdict::unproven;
  std::string text;  // one sentence without a final full stop
  std::string hint;
};

struct Parallelism {
  std::vector<Verdict> loops;      // of each loop of the prefix, in its order
  std::vector<Finding> findings;   // what is not parallel, worst first
  std::vector<std::string> notes;  // what the answer rests on
};

// touched: of each input, from a run; may be empty.
Parallelism parallelism(const Description& nest, const Shape& shape, const std::vector<Touched>& touched);

}  // namespace simtlab::models::loops
