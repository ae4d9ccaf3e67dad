#include "studies/sweep/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "result/json.h"
#include "studies/sweep/process.h"

namespace simtlab::studies::sweep {
namespace {

constexpr std::size_t most_error = 2000;

// Our own errors end with their name: "... [ptx-syntax]".
std::string id_in(const std::string& text) {
  for (std::size_t open = text.find('['); open != std::string::npos; open = text.find('[', open + 1)) {
    const std::size_t close = text.find(']', open);
    if (close == std::string::npos) break;
    const std::string id = text.substr(open + 1, close - open - 1);
    const bool is_id = id.size() > 3 && id.size() < 40 &&
                       id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    if (is_id && (close + 1 == text.size() || text[close + 1] == '\n')) return id;
  }
  return {};
}

void describe_failure(const Store& store, const result::Manifest* manifest, double timed_out_s,
                      Outcome& out) {
  if (timed_out_s > 0) {
    out.error_id = "sweep-timeout";
    out.error = fmt::format("it took longer than {:g} s", timed_out_s);
    return;
  }
  if (manifest != nullptr && !manifest->failure.empty()) {
    out.error = manifest->failure, out.error_id = manifest->failure_id;
    return;
  }
  out.error = shown_lines(end_of_file(store.error_file(out.id), most_error), 400);
  out.error_id = id_in(out.error);
  while (!out.error.empty() && out.error.back() == '\n') out.error.pop_back();
  if (out.exit_code >= 128) {
    out.error_id = "sweep-crash";
    out.error = fmt::format("it ended by signal {}{}{}", out.exit_code - 128, out.error.empty() ? "" : ": ",
                            out.error);
  }
  if (out.error.empty()) out.error = fmt::format("it ended with {} and said nothing", out.exit_code);
}

// Why a run that ended well has nothing to say of any kernel; empty: it has, or is of a command that need
// not.
std::string without_kernels(const result::Result& result) {
  constexpr std::string_view of_kernels[] = {"timing", "functional", "cache", "predict"};
  if (std::ranges::find(of_kernels, std::string_view(result.manifest.mode)) == std::end(of_kernels))
    return {};
  const auto skipped = static_cast<std::uint64_t>(result.total.get("program.kernels.skipped").value_or(0));
  if (!result.kernels.empty() || result.manifest.interrupted || !result.manifest.failure.empty()) return {};
  if (skipped == 0) return "it launched no kernel, so there is nothing to compare";
  return fmt::format("none of its {} launches was chosen by --kernels, so there is nothing to compare",
                     skipped);
}

}  // namespace

std::vector<std::string> process_words(const Study& study, const Point& point, const EngineOptions& options,
                                       const std::filesystem::path& result) {
  std::vector<std::string> words = point_command(study, point.values, point.seed);
  std::vector<std::string> more = options.extra;
  more.insert(more.end(), {"--quiet", "--json=" + result.string()});
  words.insert(std::ranges::find(words, "--"), more.begin(), more.end());
  words.insert(words.begin(), options.program);
  return words;
}

Outcome outcome_of(const Store& store, const Point& point, int status, double timed_out_s) {
  Outcome out;
  out.id = point.id;
  out.exit_code = status;
  out.begun = point.begun, out.ended = unix_time();
  out.host = point.host, out.worker = point.worker;
  const std::filesystem::path file = store.result_file(point.id);
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    try {
      out.json = read_file(file, result::max_json_bytes, "result file");
      bool apart = false;
      const result::OpenBeside beside = result::beside_of(file);
      out.result = result::result_from_json(
          out.json, file.string(), [&](const std::string& name) { return apart = true, beside(name); });
      if (apart) out.json = result::to_json(*out.result);  // the database keeps it as a whole
    } catch (const Error& e) {
      out.result.reset();
      if (status == 0)
        out.exit_code = static_cast<int>(e.code()), out.error_id = e.id(), out.error = e.what();
    }
  } else if (status == 0) {
    out.exit_code = static_cast<int>(ExitCode::failure);
    out.error_id = "sweep-no-result", out.error = "it ended well and wrote no result";
  }
  if (out.exit_code == 0 && out.result)
    if (const std::string why = without_kernels(*out.result); !why.empty())
      out.exit_code = static_cast<int>(ExitCode::bad_input), out.error_id = "sweep-no-kernel",
      out.error = why;
  if ((status != 0 && out.error.empty()) || timed_out_s > 0)
    describe_failure(store, out.result ? &out.result->manifest : nullptr, timed_out_s, out);
  return out;
}

// A result that is there is whole: it got its name by a rename. It may be one of a run that failed, or that
// was stopped with the sweep.
std::uint64_t recover(Store& store) {
  std::uint64_t taken = 0;
  std::error_code ignored;
  std::vector<std::filesystem::path> old;
  for (const auto& entry : std::filesystem::directory_iterator(store.spool(), ignored)) {
    const std::string name = entry.path().stem().string();
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error != std::errc{} || end != name.data() + name.size()) continue;
    const auto point = store.point(id);
    if (!point || (point->state == State::running && point->batch != 0)) continue;  // the cluster has it
    if (entry.path().extension() == ".json") {
      if (point->state == State::pending || point->state == State::running) {
        Outcome out = outcome_of(store, *point, 0, 0);
        if (!out.result || out.result->manifest.interrupted) {
          old.push_back(entry.path());
          continue;
        }
        const result::Manifest& m = out.result->manifest;
        if (!m.failure.empty())
          out.exit_code = m.failure_code == 0 ? 1 : m.failure_code, out.error = m.failure,
          out.error_id = m.failure_id;
        else if (m.program_exit_status.value_or(0) != 0)
          out.exit_code = 5, out.error = fmt::format("the program ended with {}", *m.program_exit_status);
        if (out.begun == 0) out.begun = out.ended - m.wall_seconds;
        out.ended = out.begun + m.wall_seconds;
        if (out.host.empty()) out.host = m.host.substr(0, m.host.find(' ')), out.worker = "recovered";
        store.finish(out);
        ++taken;
      }
      old.push_back(entry.path());
    } else if (entry.path().extension() == ".err" ||
               (entry.path().extension() == ".outcome" && point->state != State::pending &&
                point->state != State::running)) {  // taken, and the sweep was killed before it cleared away
      old.push_back(entry.path());
    }
  }
  store.give_back_all(State::running);
  store.commit();
  for (const std::filesystem::path& file : old) result::remove_result_file(file);
  return taken;
}

}  // namespace simtlab::studies::sweep
