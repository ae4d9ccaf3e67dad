// Tables of a kernel in the result file.
#pragma once

#include <string>
#include <vector>

#include "result/table.h"

namespace simtlab::result {

// `,\n "sms": [...], "tables": {...}` of a kernel; empty without tables. A row of the table `sms` is an object, those of the others are lists.
std::string tables_json(const std::vector<Table>& tables);

}  // namespace simtlab::result
