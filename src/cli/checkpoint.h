// --checkpoint, --checkpoint-every and --resume.
#pragma once

#include "cli/options.h"

namespace simtlab::cli {

// With --record and --timeline they do not go together: launches that are not run again leave nothing there.
// Looks at the file to resume, too. Throws Error(usage), Error(bad_input).
void check_checkpoint(const RunOptions& given);

}  // namespace simtlab::cli
