// What several processes of one program found, as one.
#pragma once

#include "result/findings.h"

namespace simtlab::result {

// Findings of one rule at the same places count as one; coverage is added up.
void merge(CheckResult& into, CheckResult&& from);

// The order of CheckResult: findings by rule, file and line, coverage by file.
void sort(CheckResult& check);

}  // namespace simtlab::result
