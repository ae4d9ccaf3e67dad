// What `simtlab check` found, as the member "check" of a result file (docs/reference/json.md).
#pragma once

#include <string>

#include "result/findings.h"

namespace simtlab::result {

struct JsonNode;

std::string check_json(const CheckResult& check);  // an object
// Throws Error(bad_input, "result-json") that names the member.
CheckResult check_from_json(const JsonNode& node);

}  // namespace simtlab::result
