#include "assembler/selector.h"

namespace simtlab::assembler {

std::span<const SelectionRow> conversion_selections() { return {}; }

}  // namespace simtlab::assembler
