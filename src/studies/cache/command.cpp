// simtlab cache: what a program, a kernel or a trace does to the caches.
#include "studies/common/command.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "cache/options.h"
#include "studies/cache/pictures.h"
#include "studies/cache/variants.h"
#include "studies/common/axes.h"
#include "studies/common/studies.h"
#include "studies/run/run.h"

namespace simtlab::studies {
namespace {

struct CacheRun {
  Run run;
  std::optional<std::string> order, warp_size, fetch_group, prefetch, allocate, wait, turn, jitter, skew, sms,
      groups, sample;
  bool alternate_blocks = false, fetch_on_write = false, zero_latency = false, no_l2 = false;
  std::string plot;
  std::vector<std::string> sweep, compare;
};

constexpr std::uint32_t points_of_a_picture = 20000;

// What single threads have not: a time.
void refuse_time(const CacheRun& c) {
  const std::pair<const char*, bool> given[] = {
      {"--allocate", c.allocate.has_value()}, {"--wait", c.wait.has_value()},
      {"--turn", c.turn.has_value()},         {"--jitter", c.jitter.has_value()},
      {"--skew", c.skew.has_value()},         {"--max-cycles", c.run.given.has("max-cycles")}};
  for (const auto& [option, is_given] : given)
    if (is_given)
      throw Error(
          ExitCode::usage, "option-conflict",
          fmt::format("{} has no meaning where single threads take turns: what misses is there at once",
                      option),
          fmt::format("leave it out, or take an order of warps instead of {}", *c.order));
}

// One option at a time, so that a message names the one that is wrong.
cache::Options study_of(const CacheRun& c) {
  std::string text;
  const auto add = [&](const char* option, const char* key, const std::optional<std::string>& value) {
    if (!value) return;
    const std::string part = fmt::format("{}={}", key, *value);
    if (value->find(',') != std::string::npos)
      throw Error(ExitCode::usage, "cache-option", fmt::format("--{}: unknown value '{}'", option, *value));
    cache::parse_options(part);
    text += (text.empty() ? "" : ",") + part;
  };
  add("order", "order", c.order);
  add("warp-size", "warp_size", c.warp_size);
  add("fetch-group", "fetch_group", c.fetch_group);
  add("prefetch", "prefetch", c.prefetch);
  add("allocate", "allocate", c.allocate);
  add("wait", "wait", c.wait);
  add("turn", "turn", c.turn);
  add("jitter", "jitter", c.jitter);
  add("skew", "skew", c.skew);
  add("sms", "sms", c.sms);
  add("groups", "groups", c.groups);
  add("reuse-sample", "sample", c.sample);
  cache::Options options = cache::parse_options(text);
  options.alternate_blocks = c.alternate_blocks;
  options.zero_latency = c.zero_latency;
  options.fetch_on_write = c.fetch_on_write;
  options.l2 = !c.no_l2;
  if (!c.plot.empty()) options.pictures = points_of_a_picture;
  if (cache::orders_threads(options.order)) refuse_time(c);
  return options;
}

constexpr auto group = "Study";

// Who accesses when.
void add_order_options(Command& command, CacheRun& c) {
  command
      .add_option("--order", c.order,
                  "Who accesses next: an order of warps (default: as the device's warp scheduler) or of "
                  "single threads (simtlab list orders)")
      ->type_name("ORDER")
      ->group(group);
  command
      .add_option(
          "--warp-size", c.warp_size,
          "With an order of threads: so many neighbours of a block take turns together, coalesced as a warp "
          "(default 1; a power of two up to 1024)")
      ->type_name("N")
      ->group(group);
  command
      .add_flag("--alternate-blocks", c.alternate_blocks,
                "With an order of threads: blocks take turns, too; single threads go row by row of the grid, "
                "with --warp-size one warp of each block after the other")
      ->group(group);
  command
      .add_option("--fetch-group", c.fetch_group,
                  "With --order two_level: warps that are active at once (default 8)")
      ->type_name("N")
      ->group(group);
  command
      .add_option("--wait", c.wait,
                  "When a warp waits for its loads: at the end of a basic block (block, default) or at the "
                  "first use in the PTX (use)")
      ->type_name("WHEN")
      ->group(group);
  command
      .add_option("--turn", c.turn,
                  "How long a warp's turn lasts: until it has to wait (batch, default) or to its next access "
                  "(access)")
      ->type_name("WHAT")
      ->group(group);
  command
      .add_option("--jitter", c.jitter,
                  "Spread of the latency of misses, SM cycles: the deviation of a half-normal distribution "
                  "that is added")
      ->type_name("CYCLES")
      ->group(group);
  command.add_option("--skew", c.skew, "SM cycles between the first blocks of an SM and of the next one")
      ->type_name("CYCLES")
      ->group(group);
}

// What the caches do, and how many of them are looked at.
void add_memory_options(Command& command, CacheRun& c) {
  command
      .add_flag("--zero-latency", c.zero_latency,
                "Misses are filled at once and nobody waits: the caches alone")
      ->group(group);
  command.add_flag("--no-l2", c.no_l2, "The L1 caches alone")->group(group);
  command
      .add_option("--prefetch", c.prefetch, "What L1 fetches ahead (simtlab list prefetchers; default: none)")
      ->type_name("WHAT")
      ->group(group);
  command
      .add_option("--allocate", c.allocate, "When a line gets its place in L1: on-miss (default) or on-fill")
      ->type_name("WHEN")
      ->group(group);
  command
      .add_flag("--fetch-on-write", c.fetch_on_write,
                "Where a cache takes a line in with a store: it fetches the sectors that the store does not "
                "fill (default: it keeps which bytes are there)")
      ->group(group);
  command
      .add_option("--sms", c.sms, "Simulate these SMs only, e.g. 0-3; blocks are dealt to all SMs in turn")
      ->type_name("FIRST-LAST")
      ->group(group);
  command.add_option("--groups", c.groups, "Execute these blocks only, e.g. 0-99")
      ->type_name("FIRST-LAST")
      ->group(group);
  command
      .add_option("--reuse-sample", c.sample,
                  "Follow the reuse distances of this share of the lines (default 1: exact)")
      ->type_name("SHARE")
      ->group(group);
}

// What is made of the study.
void add_table_options(Command& command, CacheRun& c) {
  command
      .add_option("--plot", c.plot, "Write pictures to FOLDER: SVG files, and cache.html with all of them")
      ->check(output_folder())
      ->type_name("FOLDER")
      ->group(group);
  command
      .add_option("--sweep", c.sweep,
                  "A table over all combinations: size=16K:128K ways=1:16 policy=lru,fifo order=lrr,gto or "
                  "any device key")
      ->type_name("KEY=VALUES")
      ->one_at_a_time()
      ->group(group);
  command
      .add_option(
          "--compare", c.compare,
          "Two variants side by side: settings (order=gto,l1.ways=8), results (a.json) or kernels (b.ptx)")
      ->expected(2, 2)
      ->type_name("A B")
      ->group(group);
}

Outcome cache(Call call, CacheRun c) {
  const cache::Options study = study_of(c);
  take_axes(call.rest, c.sweep);
  c.run.given.set("cache", cache::to_text(study));
  refuse_unread(call.command, study_of(c.run, call));
  if (!c.sweep.empty() && !c.compare.empty())
    throw Error(ExitCode::usage, "option-conflict", "--sweep and --compare are two tables",
                "one of them at a time");
  if ((!c.sweep.empty() || !c.compare.empty()) && c.run.given.has("schedule"))
    throw Error(ExitCode::usage, "option-conflict",
                "--schedule is of one study: --sweep and --compare run several",
                "leave it out, or study one of the variants");
  if (!c.plot.empty()) return plot_study(c.run, call, c.plot);
  if (!c.sweep.empty()) return sweep_study(c.run, study, call, c.sweep);
  if (!c.compare.empty()) return compare_studies(c.run, study, call, c.compare[0], c.compare[1]);
  return run_command(call, c.run);
}

}  // namespace

void add_cache(Command& app) {
  Command* sub = app.add_subcommand(
      "cache", "What a program or a kernel does to L1 and L2: hits, why it misses, reuse, pictures");
  const auto options = std::make_shared<CacheRun>();
  sub->allow_extras();
  sub->footer(
      "Forms: simtlab cache [OPTIONS] app.cu [MORE SOURCES AND NVCC FLAGS] [-- ARGUMENTS]\n"
      "       simtlab cache [OPTIONS] -- ./app [ARGUMENTS]\n"
      "       simtlab cache [OPTIONS] kernel.ptx|kernel.cl --global 160x160 --local 16x16 --arg ...\n"
      "       simtlab cache [OPTIONS] TRACE.simt | kernelslist.g | ACCESSES.trace\n"
      "The caches are those of --gpu; --set l1.bytes=48KiB changes them (simtlab config show lists the "
      "keys).");
  add_options(*sub, options::cached, options->run.given);
  add_order_options(*sub, *options);
  add_memory_options(*sub, *options);
  add_table_options(*sub, *options);
  {
    const ReadBy kernels(*sub, options::Study::cache_kernel);
    add_kernel_options(*sub, options->run.kernel);
  }
  add_output_options(*sub, options->run.output);
  add_progress_option(*sub, options->run.output);
  sub->takes_program();
  sub->embeds();
  sub->action([options](const Call& call) { return cache(call, *options); });
}

}  // namespace simtlab::studies
