#include "studies/run/checkpoint.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/shown.h"
#include "stream/checkpoint/file.h"
#include "studies/common/output.h"

namespace simtlab::studies {

void check_checkpoint(const RunOptions& given) {
  const bool writes = given.has("checkpoint");
  const std::optional<std::string> resume = given.get("resume");
  if (given.has("checkpoint-every") && !writes)
    throw Error(ExitCode::usage, "option-conflict", "--checkpoint-every needs --checkpoint",
                "name the file to write: --checkpoint FILE");
  if (given.get("checkpoint") == "-")
    throw Error(ExitCode::usage, "option-value", "--checkpoint - : a checkpoint is a file",
                "--checkpoint FILE");
  if (!writes && !resume) return;
  if (given.has("record") || given.has("timeline") || given.has("sm-timeline"))
    throw Error(ExitCode::usage, "option-conflict",
                fmt::format("{} does not go together with checkpoints",
                            given.has("record") ? "--record" : "--timeline, --sm-timeline"),
                "launches that a checkpoint holds are not run again, so there is nothing to record of them");
  if (!resume) return;
  const std::unique_ptr<stream::checkpoint::Reader> reader = stream::checkpoint::open(*resume);
  if (reader->unused_bytes() != 0)
    talk(fmt::format("note: {}: the last {} bytes are not complete and not used\n", shown(*resume),
                     reader->unused_bytes()));
}

}  // namespace simtlab::studies
