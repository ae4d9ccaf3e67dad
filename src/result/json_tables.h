// Tables of a kernel in the result file.
#pragma once

#include <string>
#include <vector>

#include "result/beside.h"
#include "result/table.h"

namespace simtlab::result {

// `,\n "sms": [...], "tables": {...}` of a kernel; empty without tables. A row of the table `sms` is an
// object, those of the others are lists. beside: null, or takes tables of too many rows, by the name
// `prefix`.NAME.
std::string tables_json(const std::vector<Table>& tables, const std::string& prefix, Beside* beside);

}  // namespace simtlab::result
