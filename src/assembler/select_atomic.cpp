#include "assembler/selector.h"

namespace simtlab::assembler {

std::span<const SelectionRow> atomic_selections() { return {}; }

}  // namespace simtlab::assembler
