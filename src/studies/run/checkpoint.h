// --checkpoint, --checkpoint-every and --resume.
#pragma once

#include "studies/common/options.h"

namespace simtlab::studies {

// With --record and --timeline they do not go together: launches that are not run again leave nothing there.
// Looks at the file to resume, too. Throws Error(usage), Error(bad_input).
void check_checkpoint(const RunOptions& given);

}  // namespace simtlab::studies
