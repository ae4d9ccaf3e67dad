// Operations as bytes.
#pragma once

#include "stream/trace/bytes.h"
#include "stream/trace/format.h"

namespace simtlab::stream::trace {

void put_operation(Buffer& out, const Operation& operation);
Operation get_operation(Bytes& in);  // throws Malformed

}  // namespace simtlab::stream::trace
