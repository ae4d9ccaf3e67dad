#include "studies/run/program_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/shown.h"
#include "hosts/kept.h"
#include "result/json.h"
#include "result/merge_findings.h"
#include "result/totals.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

void take_failure(result::Manifest& into, const result::Manifest& from) {
  if (!into.failure.empty() || from.failure.empty()) return;
  into.failure = from.failure;
  into.failure_id = from.failure_id;
  into.failure_code = from.failure_code;
}

void add(result::Result&& one, ProgramResult& out) {
  GpuProcess& process = out.processes.emplace_back();
  process.kernels = one.kernels.size();
  if (!one.manifest.inputs.empty())
    process.program = {one.manifest.inputs.front().path, one.manifest.inputs.front().xxh64};
  if (!std::exchange(out.used_gpu, true)) {
    out.result = std::move(one);
    return;
  }
  for (result::KernelResult& k : one.kernels) out.result.kernels.push_back(std::move(k));
  if (one.check && out.result.check)
    merge(*out.result.check, std::move(*one.check));
  else if (one.check)
    out.result.check = std::move(one.check);
  take_failure(out.result.manifest, one.manifest);
  if (out.result.manifest.stopped_at.empty()) out.result.manifest.stopped_at = one.manifest.stopped_at;
  out.result.manifest.interrupted = out.result.manifest.interrupted || one.manifest.interrupted;
  out.result.total = result::combine_totals(out.result.total, one.total, out.result.kernels);
}

// A process that had written a result when something failed, and then ended without a word, did what it left
// later.
void put_right(result::Result& written, hosts::Kept& kept) {
  if (kept.result.kernels.size() < written.kernels.size()) return;
  written.kernels = std::move(kept.result.kernels);
  written.total = std::move(kept.result.total);
}

}  // namespace

void collect_results(const fs::path& first, ProgramResult& out) {
  std::error_code ignored;
  std::vector<result::Result> results;        // in the order in which the processes ended
  std::map<std::string, std::size_t> places;  // by file
  for (unsigned i = 0;; ++i) {
    const fs::path path = i == 0 ? first : fs::path(fmt::format("{}.{}", first.string(), i));
    if (!fs::exists(path, ignored)) break;
    places[path.string()] = results.size();
    results.push_back(result::read_result_file(path));
  }
  for (hosts::Kept& kept : hosts::read_kept(first)) {
    out.cut_off = true;
    out.under_way += kept.counters.under_way();
    out.missing += kept.missing;
    if (const auto at = places.find(kept.written); at != places.end())
      put_right(results[at->second], kept);
    else
      results.push_back(std::move(kept.result));
  }
  const auto untold = std::ranges::count_if(
      results, [](const result::Result& one) { return !one.check && !one.kernels.empty(); });
  for (result::Result& one : results) add(std::move(one), out);
  if (out.result.check && untold != 0)
    out.result.check->gaps.push_back(fmt::format(
        "{} of the program ended without telling what was found in {}",
        untold == 1 ? "a process" : fmt::format("{} processes", untold), untold == 1 ? "it" : "them"));
}

std::optional<Error> what_is_lost(const ProgramResult& r, const std::string& program,
                                  const options::Options& options) {
  std::vector<std::string> lost;
  if (r.under_way != 0)
    lost.push_back(fmt::format("{} launch{} had not been simulated to the end", r.under_way,
                               r.under_way == 1 ? "" : "es"));
  if (r.missing != 0)
    lost.push_back(
        fmt::format("{} launch{} not in the report", r.missing, r.missing == 1 ? " is" : "es are"));
  std::error_code ignored;
  if (r.cut_off)
    for (const auto& [what, file] :
         {std::pair{"trace", options.record}, std::pair{"checkpoint", options.checkpoint},
          std::pair{"timeline", options.timeline}})
      if (!file.empty() && (!fs::exists(file, ignored) || fs::last_write_time(file, ignored) < r.begun))
        lost.push_back(fmt::format("the {} {} was not completed", what, shown(file)));
  if (r.cut_off && options.sm_timeline) lost.push_back("--sm-timeline recorded nothing");
  if (r.signal != 0) lost.insert(lost.begin(), "what had been simulated until then is in the report");
  if (lost.empty()) return std::nullopt;
  std::string text = fmt::format("{}", fmt::join(lost, "; "));
  if (r.signal != 0)
    return Error(
        ExitCode::program_failed, "program-exit",
        fmt::format("{} was ended by signal {} ({}): {}", program, r.signal, ::strsignal(r.signal), text));
  return Error(ExitCode::program_failed, "program-left",
               fmt::format("{} left by _exit, or a process of it was killed: {}", program, text),
               "let it wait (cudaDeviceSynchronize) and end by exit() or by return from main");
}

}  // namespace simtlab::studies
