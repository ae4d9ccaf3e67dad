// Tables of probes.
#pragma once

#include <vector>

#include "result/table.h"

namespace simtlab::result {

std::vector<TableDeclaration> probe_tables();

}  // namespace simtlab::result
