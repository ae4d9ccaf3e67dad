#include "assembler/selector.h"

namespace simtlab::assembler {

std::span<const SelectionRow> warp_selections() { return {}; }

}  // namespace simtlab::assembler
