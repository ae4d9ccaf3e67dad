#include "report/viewer/live.h"

#include <errno.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"

namespace simtlab::report::viewer {
namespace {

using Json = nlohmann::json;

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  void line(std::string_view text, std::uint32_t number) {
    number_ = number;
    const Json object = Json::parse(text, nullptr, false);
    if (!object.is_object()) fail("is no JSON object");
    if (number == 1)
      first(object);
    else if (object.contains("end"))
      last(object);
    else
      row(object);
  }
  LiveRun take() { return std::move(run_); }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::bad_input, "live-file",
                Diagnostic{"a line of a live file " + what,
                           {file_, number_, 1},
                           {},
                           "`simtlab run --live FILE` writes such files"});
  }
  std::string text(const Json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) fail(std::string("has no text '") + key + "'");
    return found->get<std::string>();
  }
  std::uint64_t number(const Json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_unsigned())
      fail(std::string("has no whole number '") + key + "'");
    return found->get<std::uint64_t>();
  }
  double seconds(const Json& object) const {
    const auto found = object.find("seconds");
    if (found == object.end() || !found->is_number() || !(found->get<double>() >= 0))
      fail("has no 'seconds'");
    return found->get<double>();
  }
  void first(const Json& object) {
    if (!object.contains("simtlab_live")) fail("does not say \"simtlab_live\": this is something else");
    if (number(object, "simtlab_live") != 1) fail("is of a newer form than this simtlab reads");
    run_.command = text(object, "command");
    run_.device = text(object, "device");
    run_.mode = text(object, "mode");
    run_.process = number(object, "process");
  }
  void row(const Json& object) {
    if (run_.ended) fail("follows the end");
    run_.seconds = seconds(object);
    if (!run_.rows.empty() && run_.seconds < run_.rows.back().seconds) fail("lies before the line above it");
    run_.rows.push_back({run_.seconds, text(object, "kernel"), number(object, "launches"),
                         number(object, "blocks"), number(object, "of_blocks"), number(object, "cycles"),
                         number(object, "instructions")});
  }
  void last(const Json& object) {
    if (run_.ended) fail("is a second end");
    run_.seconds = seconds(object);
    run_.end = text(object, "end");
    run_.ended = true;
  }

  const std::string& file_;
  std::uint32_t number_ = 0;
  LiveRun run_;
};

}  // namespace

bool LiveRun::abandoned() const {
  return !ended && process != 0 && process < (std::uint64_t{1} << 31) &&
         ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

LiveRun parse_live(std::string_view text, const std::string& file) {
  Reader reader(file);
  std::uint32_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    reader.line(text.substr(at, end - at), ++number);
    at = end + 1;
  }
  if (number == 0)
    throw Error(
        ExitCode::bad_input, "live-file",
        Diagnostic{"no line is there yet", {file, 1, 1}, {}, "`simtlab run --live FILE` writes such files"});
  return reader.take();
}

LiveRun read_live(const std::filesystem::path& path) {
  return parse_live(read_file(path, max_live_bytes, "live file"), path.string());
}

}  // namespace simtlab::report::viewer
