#include "cli/checkpoint.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "base/error.h"
#include "base/shown.h"
#include "cli/output.h"
#include "cli/output_option.h"
#include "hosts/configuration.h"
#include "stream/checkpoint/file.h"

namespace simtlab::cli {
namespace {

std::uint64_t every(const CheckpointWish& wish) {
  if (!wish.every) return 0;
  std::uint64_t value = 0;
  const std::string& text = *wish.every;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0)
    throw Error(ExitCode::usage, "option-value",
                fmt::format("--checkpoint-every '{}' is no number of launches from 1", shown(text, 40)));
  return value;
}

std::string absolute(const std::string& file) {
  return file.empty() ? file : std::filesystem::absolute(file).string();
}

}  // namespace

void add_checkpoint_options(CLI::App& command, CheckpointWish& wish) {
  const auto group = "Checkpoints";
  command
      .add_option("--checkpoint", wish.write,
                  "Write what launches did, to go on from later (docs/reference/checkpoints.md)")
      ->check(output_file())
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--checkpoint-every", wish.every,
                  "Complete the file every N launches, not every minute and at the end")
      ->type_name("N")
      ->group(group);
  command.add_option("--resume", wish.resume, "Go on from this checkpoint: its launches are not run again")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("FILE")
      ->group(group);
}

void check(const CheckpointWish& wish, bool recorded, bool timeline) {
  if (wish.every && wish.write.empty())
    throw Error(ExitCode::usage, "option-conflict", "--checkpoint-every needs --checkpoint",
                "name the file to write: --checkpoint FILE");
  every(wish);
  if (wish.write == "-")
    throw Error(ExitCode::usage, "option-value", "--checkpoint - : a checkpoint is a file",
                "--checkpoint FILE");
  if (wish.write.empty() && wish.resume.empty()) return;
  if (recorded || timeline)
    throw Error(ExitCode::usage, "option-conflict",
                fmt::format("{} does not go together with checkpoints",
                            recorded ? "--record" : "--timeline, --sm-timeline"),
                "launches that a checkpoint holds are not run again, so there is nothing to record of them");
  if (!wish.resume.empty()) {
    const std::unique_ptr<stream::checkpoint::Reader> reader = stream::checkpoint::open(wish.resume);
    if (reader->unused_bytes() != 0)
      talk(fmt::format("note: {}: the last {} bytes are not complete and not used\n", shown(wish.resume),
                       reader->unused_bytes()));
  }
}

void add_to(result::RunConfig& config, const CheckpointWish& wish) {
  config.checkpoint = absolute(wish.write);
  config.checkpoint_every = every(wish);
  config.resume = absolute(wish.resume);
}

gpu::CheckpointOptions checkpoint_options(const CheckpointWish& wish,
                                          const device::Configuration& configuration,
                                          const device::LoadedDevice& device) {
  result::RunConfig config = hosts::run_config(configuration);
  add_to(config, wish);
  return hosts::checkpoint_options(config, device);
}

}  // namespace simtlab::cli
