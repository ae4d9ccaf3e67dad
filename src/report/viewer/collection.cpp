#include "report/viewer/collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/shown.h"
#include "report/viewer/live.h"
#include "result/json.h"
#include "result/totals.h"

namespace simtlab::report::viewer {
namespace {

namespace fs = std::filesystem;

Kind kind_of(const fs::path& path) {
  std::string head(16, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (head == std::string("SQLite format 3\0", 16)) return Kind::study;
  return head.starts_with("{\"simtlab_live\"") ? Kind::live : Kind::result;
}

double time_of(const result::KernelResult& k) { return k.metrics.get("gpu.time").value_or(0); }

void read_result(Entry& e) {
  const result::Result r = result::read_result_file(e.path);
  const result::Manifest& m = r.manifest;
  e.command = m.command_line;
  e.mode = m.mode;
  e.device = m.device;
  e.started = m.start_time;
  e.total = r.total;
  const std::vector<result::KernelResult> kernels = result::merge_by_name(r.kernels);
  e.kernels = kernels.size();
  if (const auto longest = std::ranges::max_element(kernels, {}, time_of); longest != kernels.end())
    e.kernel = longest->demangled.empty() ? longest->name : longest->demangled;
  e.complete = !m.interrupted && m.failure.empty();
  if (m.interrupted) e.note = "interrupted";
  if (!m.failure.empty()) e.note = "failed: " + m.failure_id;
}

void read_live_head(Entry& e) {
  const LiveRun run = read_live(e.path);
  e.command = run.command;
  e.mode = run.mode;
  e.device = run.device;
  if (!run.rows.empty()) e.kernel = run.rows.back().kernel;
  e.complete = run.ended;
  e.note = run.ended         ? run.end
           : run.abandoned() ? "ended without a word"
                             : fmt::format("running, {:.0f} s", run.seconds);
}

Entry read_entry(const fs::path& path) {
  Entry e;
  e.path = path;
  e.id = hash_bytes(path.string());
  try {
    e.kind = kind_of(path);
    if (e.kind == Kind::result) read_result(e);
    if (e.kind == Kind::live) read_live_head(e);
  } catch (const Error& error) {
    Entry bad;
    bad.path = path;
    bad.id = e.id;
    bad.error = error.format();
    bad.complete = false;
    return bad;
  }
  return e;
}

bool may_be_ours(const fs::path& path) {
  return path.extension() == ".json" || path.extension() == ".live" || path.extension() == ".db";
}

}  // namespace

Collection::Collection(std::vector<fs::path> names) : names_(std::move(names)) {
  for (fs::path& name : names_) {
    std::error_code error;
    if (!fs::exists(name, error))
      throw Error(ExitCode::bad_input, "file-missing", fmt::format("{} is not there", shown(name.string())),
                  "result files (--json=FILE), live files (--live), databases of sweeps, or folders of them");
    if (!fs::is_regular_file(name, error) && !fs::is_directory(name, error))
      throw Error(ExitCode::bad_input, "file-read",
                  fmt::format("{} is neither a file nor a folder", shown(name.string())),
                  "save it as a file first");
    name = fs::weakly_canonical(fs::absolute(name));
  }
  refresh();
}

std::vector<std::pair<fs::path, bool>> Collection::files() {
  std::vector<std::pair<fs::path, bool>> out;
  for (const fs::path& name : names_) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      out.emplace_back(name, true);
      continue;
    }
    for (fs::directory_iterator at(name, error), end; !error && at != end; at.increment(error)) {
      std::error_code ignored;
      if (may_be_ours(at->path()) && at->is_regular_file(ignored)) out.emplace_back(at->path(), false);
    }
  }
  std::ranges::sort(out, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  out.erase(std::ranges::unique(out, {}, &std::pair<fs::path, bool>::first).begin(), out.end());
  cut_ = out.size() > most_files;
  if (cut_) out.resize(most_files);
  return out;
}

void Collection::refresh() {
  std::map<fs::path, Known> now;
  bool changed = false;
  for (const auto& [path, named] : files()) {
    std::error_code error;
    const Stamp stamp{fs::last_write_time(path, error), fs::file_size(path, error)};
    if (error && !named) continue;  // it went while we looked
    const auto old = known_.find(path);
    // What runs has something new to say even where its file has not changed.
    const bool same = old != known_.end() && old->second.stamp == stamp &&
                      !(old->second.entry.kind == Kind::live && !old->second.entry.complete);
    Known known = same ? std::move(old->second) : Known{stamp, read_entry(path), named};
    if (!same)
      changed = changed || old == known_.end() || old->second.stamp != stamp ||
                old->second.entry.note != known.entry.note;
    now.emplace(path, std::move(known));
  }
  changed = changed || now.size() != known_.size();
  known_ = std::move(now);
  if (changed || version_ == 0) ++version_;
  entries_.clear();
  foreign_ = 0;
  for (const auto& [path, known] : known_) {
    if (known.entry.kind == Kind::unreadable && !known.named)
      ++foreign_;
    else
      entries_.push_back(&known.entry);
  }
}

const Entry* Collection::find(std::string_view id) const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry* e) { return e->id == id; });
  return found == entries_.end() ? nullptr : *found;
}

}  // namespace simtlab::report::viewer
