// The parameters of what brings instructions and their operands.
#pragma once

#include <vector>

#include "device/parameters.h"

namespace simtlab::device {

void add_front_end(std::vector<Parameter>& rows);  // instruction.*
void add_operands(std::vector<Parameter>& rows);   // operands.*

}  // namespace simtlab::device
