#include "studies/sweep/store.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/shown.h"
#include "studies/sweep/pack.h"
#include "studies/sweep/statement.h"

namespace simtlab::studies::sweep {
namespace {

constexpr std::array<std::string_view, 4> state_names = {"pending", "running", "done", "failed"};
// For processes of a study that was killed: they are about to end
constexpr std::chrono::seconds patience{5};

constexpr const char* tables = R"(
CREATE TABLE study(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE axes(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE points(id INTEGER PRIMARY KEY, combination INTEGER NOT NULL, repeat INTEGER NOT NULL, seed INTEGER NOT NULL, axis_values TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending', attempts INTEGER NOT NULL DEFAULT 0, begun REAL, ended REAL, host TEXT, worker TEXT, exit_code INTEGER, error_id TEXT, error TEXT,
  batch INTEGER, task INTEGER);
CREATE INDEX points_by_state ON points(state, id);
CREATE INDEX points_by_batch ON points(batch) WHERE batch IS NOT NULL;
CREATE TABLE metric_names(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, unit TEXT NOT NULL);
CREATE TABLE metrics(metric INTEGER NOT NULL, point INTEGER NOT NULL REFERENCES points(id), value REAL NOT NULL, PRIMARY KEY(metric, point)) WITHOUT ROWID;
CREATE TABLE manifests(point INTEGER PRIMARY KEY REFERENCES points(id), manifest TEXT NOT NULL);
CREATE TABLE inputs(path TEXT NOT NULL, xxh64 TEXT NOT NULL, first_point INTEGER NOT NULL, PRIMARY KEY(path, xxh64)) WITHOUT ROWID;
CREATE TABLE results(point INTEGER PRIMARY KEY REFERENCES points(id), json_zstd BLOB NOT NULL);
CREATE TABLE batches(id INTEGER PRIMARY KEY, name TEXT NOT NULL, job TEXT, tasks INTEGER NOT NULL, open INTEGER NOT NULL DEFAULT 1);
)";

std::string quoted_name(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// The columns of one axis each, for whoever reads the file with SQL.
std::string view_of(const std::vector<Axis>& axes) {
  std::string out = "CREATE VIEW study_points AS SELECT id, combination, repeat, seed, state";
  for (std::size_t a = 0; a < axes.size(); ++a)
    out += fmt::format(", json_extract(axis_values, '$[{}]') AS {}", a, quoted_name(axes[a].name));
  return out + ", attempts, begun, ended, host, worker, exit_code, error_id, error FROM points";
}

bool is_file(int fd, const std::string& name) {
  struct stat opened {
  }, named{};
  return ::fstat(fd, &opened) == 0 && ::stat(name.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

std::string today() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

}  // namespace

std::string_view name_of(State state) { return state_names[static_cast<std::size_t>(state)]; }

struct Store::Prepared {
  explicit Prepared(sqlite3* db)
      : start(db,
              "UPDATE points SET state = 'running', attempts = attempts + 1, begun = ?2, ended = NULL, host "
              "= ?3, worker = ?4 WHERE id = ?1"),
        finish(db,
               "UPDATE points SET state = ?2, begun = ?3, ended = ?4, host = ?5, worker = ?6, exit_code = "
               "?7, error_id = ?8, error = ?9, batch = NULL, task = NULL, "
               "attempts = max(attempts, 1) WHERE id = ?1"),
        give_back(db,
                  "UPDATE points SET state = 'pending', batch = NULL, task = NULL, exit_code = NULL, "
                  "error_id = NULL, error = NULL WHERE id = ?1"),
        metric(db, "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?)"),
        manifest(db, "INSERT OR REPLACE INTO manifests VALUES (?, ?)"),
        input(db, "INSERT OR IGNORE INTO inputs VALUES (?, ?, ?)"),
        result(db, "INSERT OR REPLACE INTO results VALUES (?, ?)") {}
  Statement start, finish, give_back, metric, manifest, input, result;
  std::map<std::string, std::int64_t, std::less<>> metric_ids;
};

Store::Store(std::filesystem::path path, Mode mode) : path_(std::filesystem::absolute(std::move(path))) {
  try {
    std::error_code ignored;
    if (mode == Mode::write)
      lock_spool();
    else if (!std::filesystem::exists(path_, ignored))
      throw Error(ExitCode::bad_input, "file-missing",
                  fmt::format("{} does not exist", shown(path_.string())), "`simtlab sweep` makes it");
    open_file(mode);
    check_format(mode);
    if (mode == Mode::write) prepared_ = std::make_unique<Prepared>(db_);
  } catch (...) {
    prepared_.reset();
    sqlite3_close(db_);
    if (lock_ >= 0) ::close(lock_);
    throw;
  }
}

Store::~Store() {
  prepared_.reset();
  // On an error's way out: what can be kept is
  if (open_) sqlite3_exec(db_, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(db_);
  if (lock_ < 0) return;
  std::error_code ignored;
  std::filesystem::remove(path_.string() + ".d", ignored);  // if it is empty
  std::filesystem::remove(path_.string() + ".lock", ignored);
  ::close(lock_);
}

std::filesystem::path Store::spool() const { return (named_.empty() ? path_ : named_).string() + ".d"; }
void Store::stand_for(const std::filesystem::path& path) { named_ = std::filesystem::absolute(path); }
std::filesystem::path Store::result_file(std::uint64_t id) const {
  return spool() / fmt::format("{}.json", id);
}
std::filesystem::path Store::error_file(std::uint64_t id) const {
  return spool() / fmt::format("{}.err", id);
}

// The lock is held by the processes of the points, too: a study goes on only when none of them is left.
void Store::lock_spool() {
  const std::filesystem::path folder = path_.parent_path();
  std::error_code code;
  if (!std::filesystem::is_directory(folder, code))
    throw Error(ExitCode::bad_input, "file-missing",
                fmt::format("there is no folder {} for the study's database", shown(folder.string())),
                "make it, or --db FILE elsewhere");
  const std::string file = path_.string() + ".lock";
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock_ < 0)
      throw Error(ExitCode::failure, "sweep-database",
                  fmt::format("cannot write {}: {}", shown(file), std::strerror(errno)),
                  "--db FILE in a folder that can be written");
    // Who had it before may have removed the name
    if (::flock(lock_, LOCK_EX | LOCK_NB) == 0 && is_file(lock_, file)) return;
    ::close(lock_);
    lock_ = -1;
    if (std::chrono::steady_clock::now() > end)
      throw Error(ExitCode::failure, "sweep-busy",
                  fmt::format("{} is in use: a sweep of it runs, or points of one that was killed",
                              shown(path_.string())),
                  "wait for it, or give this one another --db");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void Store::open_file(Mode mode) {
  // WAL: readers write the shared index
  const int flags = mode == Mode::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
  const int code = sqlite3_open_v2(path_.c_str(), &db_, flags, nullptr);
  if (code != SQLITE_OK)
    throw Error(ExitCode::failure, "sweep-database",
                fmt::format("{}: {}", shown(path_.string()), sqlite3_errstr(code)),
                "another --db, or its permissions");
  sqlite3_busy_timeout(db_, 10000);
}

void Store::check_format(Mode mode) {
  const auto number = [&](const char* pragma) -> std::int64_t {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db_, pragma, -1, &raw, nullptr) != SQLITE_OK || sqlite3_step(raw) != SQLITE_ROW) {
      const int code = sqlite3_extended_errcode(db_) & 0xff;
      const std::string text = sqlite3_errmsg(db_);
      sqlite3_finalize(raw);
      if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        throw Error(ExitCode::bad_input, "sweep-database",
                    fmt::format("{} is no database of a study: {}", shown(path_.string()), shown(text)),
                    "another --db");
      throw Error(ExitCode::failure, "sweep-database",
                  fmt::format("{}: {}", shown(path_.string()), shown(text)));
    }
    const std::int64_t out = sqlite3_column_int64(raw, 0);
    sqlite3_finalize(raw);
    return out;
  };
  const bool empty = number("SELECT count(*) FROM sqlite_master") == 0;
  if (empty && mode == Mode::write) return make_tables();
  if (empty || number("PRAGMA application_id") != store_application)
    throw Error(ExitCode::bad_input, "sweep-database",
                fmt::format("{} is no database of a study", shown(path_.string())),
                empty ? "it is empty" : "it is of another program, or another kind of ours; another --db");
  const std::int64_t schema = number("PRAGMA user_version");
  if (schema > store_schema)
    throw Error(
        ExitCode::bad_input, "sweep-schema",
        fmt::format("{} has schema {}; this simtlab knows {}", shown(path_.string()), schema, store_schema),
        "take the simtlab that wrote it, or a newer one");
  if (mode == Mode::write) exec("PRAGMA synchronous = FULL");
}

void Store::make_tables() {
  exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN IMMEDIATE");
  exec(tables);
  exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT", store_application,
                   store_schema)
           .c_str());
}

void Store::fail() const {
  const int code = sqlite3_errcode(db_);
  const bool broken = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  throw Error(broken ? ExitCode::bad_input : ExitCode::failure, "sweep-database",
              fmt::format("{}: {}", shown(path_.string()), shown(sqlite3_errmsg(db_))),
              code == SQLITE_FULL || code == SQLITE_IOERR
                  ? "make room; the same command goes on, results that are in its .d folder are taken"
                  : "");
}

void Store::exec(const char* sql) const {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void Store::write() {
  if (open_) return;
  exec("BEGIN IMMEDIATE");
  open_ = true;
}

void Store::commit() {
  if (!open_) return;
  exec("COMMIT");
  open_ = false;
}

bool Store::has_study() const { return !value("definition").empty(); }

Expansion Store::begin(const Study& study, const volatile bool* stop) {
  std::error_code code;
  std::filesystem::create_directory(spool(), code);
  write();
  try {
    Statement axis(db_, "INSERT INTO axes(name) VALUES (?)");
    for (const Axis& a : study.axes) axis.bind(1, a.name).run();
    Statement insert(db_, "INSERT INTO points(combination, repeat, seed, axis_values) VALUES (?, ?, ?, ?)");
    Expansion out = expand(
        study,
        [&](const Combination& c) {
          const std::string values =
              nlohmann::json(c.values).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
          for (std::uint64_t r = 0; r < study.repeats; ++r)
            insert.bind(1, c.index).bind(2, r).bind(3, study.seed + r).bind(4, values).run();
        },
        stop);
    exec(view_of(study.axes).c_str());
    set_value("name", study.name);
    set_value("created", today());
    set_value("definition", studies::sweep::definition(study));
    commit();
    return out;
  } catch (...) {
    sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    open_ = false;
    throw;
  }
}

void Store::clear() {
  write();
  exec("DROP VIEW IF EXISTS study_points");
  for (const char* table :
       {"results", "inputs", "manifests", "metrics", "metric_names", "batches", "points", "axes", "study"})
    exec(fmt::format("DELETE FROM {}", table).c_str());
  commit();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(spool(), ignored))
    std::filesystem::remove_all(entry.path(), ignored);
}

std::string Store::definition() const { return value("definition"); }

std::string Store::value(const char* key) const {
  Statement s(db_, "SELECT value FROM study WHERE key = ?");
  s.bind(1, std::string(key));
  return s.step() ? s.text(0) : std::string();
}

void Store::set_value(const char* key, const std::string& value) {
  write();
  Statement(db_, "INSERT OR REPLACE INTO study VALUES (?, ?)").bind(1, std::string(key)).bind(2, value).run();
}

std::vector<std::string> Store::axis_names() const {
  std::vector<std::string> out;
  Statement s(db_, "SELECT name FROM axes ORDER BY id");
  while (s.step()) out.push_back(s.text(0));
  return out;
}

Counts Store::counts() const {
  Counts out;
  Statement s(db_, "SELECT state, count(*) FROM points GROUP BY state");
  while (s.step()) {
    const std::string state = s.text(0);
    const auto n = static_cast<std::uint64_t>(s.integer(1));
    (state == "done"      ? out.done
     : state == "failed"  ? out.failed
     : state == "running" ? out.running
                          : out.pending) = n;
  }
  return out;
}

constexpr const char* point_columns =
    "SELECT id, combination, repeat, seed, axis_values, state, attempts, begun, ended, host, worker, "
    "exit_code, error_id, error, batch FROM points ";

Point Store::read_point(Statement& row) const {
  Point p;
  p.id = static_cast<std::uint64_t>(row.integer(0));
  p.combination = static_cast<std::uint64_t>(row.integer(1));
  p.repeat = static_cast<std::uint64_t>(row.integer(2));
  p.seed = static_cast<std::uint64_t>(row.integer(3));
  const nlohmann::json values = nlohmann::json::parse(row.text(4), nullptr, false);
  if (!values.is_array())
    throw Error(ExitCode::bad_input, "sweep-database",
                fmt::format("{}: the values of point {} are no list", shown(path_.string()), p.id));
  for (const nlohmann::json& v : values) p.values.push_back(v.is_string() ? v.get<std::string>() : v.dump());
  const std::string state = row.text(5);
  for (std::size_t i = 0; i < state_names.size(); ++i)
    if (state_names[i] == state) p.state = static_cast<State>(i);
  p.attempts = static_cast<std::uint64_t>(row.integer(6));
  p.begun = row.real(7), p.ended = row.real(8);
  p.host = row.text(9), p.worker = row.text(10);
  p.exit_code = static_cast<int>(row.integer(11));
  p.error_id = row.text(12), p.error = row.text(13);
  p.batch = static_cast<std::uint64_t>(row.integer(14));
  return p;
}

std::vector<Point> Store::points(State state, std::uint64_t first, std::size_t most) const {
  Statement s(db_, (std::string(point_columns) + "WHERE state = ? AND id >= ? ORDER BY id LIMIT ?").c_str());
  s.bind(1, std::string(name_of(state))).bind(2, first).bind(3, static_cast<std::uint64_t>(most));
  std::vector<Point> out;
  while (s.step()) out.push_back(read_point(s));
  return out;
}

std::optional<Point> Store::point(std::uint64_t id) const {
  Statement s(db_, (std::string(point_columns) + "WHERE id = ?").c_str());
  s.bind(1, id);
  if (!s.step()) return std::nullopt;
  return read_point(s);
}

void Store::each_point(const std::function<void(const Point&)>& take) const {
  Statement s(db_, (std::string(point_columns) + "ORDER BY id").c_str());
  while (s.step()) take(read_point(s));
}

std::vector<std::string> Store::metric_names() const {
  std::vector<std::string> out;
  Statement s(db_, "SELECT name FROM metric_names ORDER BY id");
  while (s.step()) out.push_back(s.text(0));
  return out;
}

std::string Store::unit_of(const std::string& metric) const {
  Statement s(db_, "SELECT unit FROM metric_names WHERE name = ?");
  s.bind(1, metric);
  return s.step() ? s.text(0) : std::string();
}

void Store::each_metric(const std::string& metric,
                        const std::function<void(std::uint64_t, double)>& take) const {
  Statement s(db_,
              "SELECT point, value FROM metrics WHERE metric = (SELECT id FROM metric_names WHERE name = ?) "
              "ORDER BY point");
  s.bind(1, metric);
  while (s.step()) take(static_cast<std::uint64_t>(s.integer(0)), s.real(1));
}

std::string Store::result_json(std::uint64_t id) const {
  Statement s(db_, "SELECT json_zstd FROM results WHERE point = ?");
  s.bind(1, id);
  return s.step() ? unpacked(s.text(0), path_.string()) : std::string();
}

std::vector<std::string> Store::changed_inputs() const {
  std::vector<std::string> out;
  Statement s(db_, "SELECT path FROM inputs GROUP BY path HAVING count(*) > 1 ORDER BY path LIMIT 20");
  while (s.step()) out.push_back(s.text(0));
  return out;
}

void Store::start(std::uint64_t id, double begun, const std::string& host, const std::string& worker) {
  write();
  prepared_->start.bind(1, id).bind(2, begun).bind(3, host).bind(4, worker).run();
}

void Store::give_back(std::uint64_t id) {
  write();
  prepared_->give_back.bind(1, id).run();
}

std::uint64_t Store::give_back_all(State state) {
  write();
  Statement(db_,
            "UPDATE points SET state = 'pending', batch = NULL, task = NULL, exit_code = NULL, error_id = "
            "NULL, error = NULL WHERE state = ? AND batch IS NULL")
      .bind(1, std::string(name_of(state)))
      .run();
  return static_cast<std::uint64_t>(sqlite3_changes(db_));
}

void Store::finish(const Outcome& o) {
  write();
  const bool failed = o.exit_code != 0 || !o.error.empty();
  prepared_->finish.bind(1, o.id)
      .bind(2, std::string(name_of(failed ? State::failed : State::done)))
      .bind(3, o.begun)
      .bind(4, o.ended)
      .bind(5, o.host)
      .bind(6, o.worker);
  prepared_->finish.bind(7, static_cast<std::int64_t>(o.exit_code));
  if (failed) prepared_->finish.bind(8, o.error_id).bind(9, o.error);
  prepared_->finish.run();
  if (o.result) put_result(o);
}

std::int64_t Store::metric_id(const std::string& name, std::string_view unit) {
  if (const auto known = prepared_->metric_ids.find(name); known != prepared_->metric_ids.end())
    return known->second;
  Statement(db_, "INSERT OR IGNORE INTO metric_names(name, unit) VALUES (?, ?)")
      .bind(1, name)
      .bind(2, std::string(unit))
      .run();
  Statement s(db_, "SELECT id FROM metric_names WHERE name = ?");
  s.bind(1, name).step();
  return prepared_->metric_ids[name] = s.integer(0);
}

// Metrics of the total, and of the kernel if it is the only one.
void Store::put_result(const Outcome& o) {
  const result::Result& r = *o.result;
  if (o.exit_code == 0 && o.error.empty()) {
    const auto add = [&](const result::Metrics& all, const result::Metrics* before) {
      for (const result::Metrics::Value& v : all.values()) {
        if (before != nullptr && before->get(v.name)) continue;
        prepared_->metric.bind(1, metric_id(v.name, result::find_metric(v.name)->unit))
            .bind(2, o.id)
            .bind(3, v.is_integer ? static_cast<double>(v.integer) : v.real)
            .run();
      }
    };
    add(r.total, nullptr);
    if (r.kernels.size() == 1) add(r.kernels.front().metrics, &r.total);
  }
  const result::Manifest& m = r.manifest;
  nlohmann::ordered_json manifest = {{"version", m.tool_version},
                                     {"command", m.command_line},
                                     {"working_directory", m.working_directory},
                                     {"start_time", m.start_time},
                                     {"wall_time_s", m.wall_seconds},
                                     {"host", m.host},
                                     {"device", m.device},
                                     {"mode", m.mode},
                                     {"seed", m.seed}};
  for (const result::InputHash& i : m.inputs) {
    manifest["inputs"][i.path] = i.xxh64;
    prepared_->input.bind(1, i.path).bind(2, i.xxh64).bind(3, o.id).run();
  }
  prepared_->manifest.bind(1, o.id)
      .bind(2, manifest.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
      .run();
  prepared_->result.bind(1, o.id).bind_blob(2, packed(o.json)).run();
}

std::vector<Batch> Store::batches(bool open_only) const {
  std::vector<Batch> out;
  Statement s(db_, open_only ? "SELECT id, name, job, tasks, open FROM batches WHERE open = 1 ORDER BY id"
                             : "SELECT id, name, job, tasks, open FROM batches ORDER BY id");
  while (s.step())
    out.push_back({static_cast<std::uint64_t>(s.integer(0)), s.text(1), s.text(2),
                   static_cast<std::uint64_t>(s.integer(3)), s.integer(4) != 0});
  return out;
}

Batch Store::add_batch(const std::string& prefix, const std::vector<std::uint64_t>& points,
                       std::uint64_t points_a_task) {
  write();
  Batch out;
  out.tasks = (points.size() + points_a_task - 1) / points_a_task;
  Statement(db_, "INSERT INTO batches(name, tasks) VALUES ('', ?)").bind(1, out.tasks).run();
  out.id = static_cast<std::uint64_t>(sqlite3_last_insert_rowid(db_));
  out.name = fmt::format("{}-{}", prefix, out.id);
  Statement(db_, "UPDATE batches SET name = ? WHERE id = ?").bind(1, out.name).bind(2, out.id).run();
  Statement mark(db_,
                 "UPDATE points SET state = 'running', attempts = attempts + 1, batch = ?, task = ?, begun = "
                 "NULL, ended = NULL WHERE id = ?");
  for (std::size_t i = 0; i < points.size(); ++i)
    mark.bind(1, out.id).bind(2, static_cast<std::uint64_t>(i / points_a_task)).bind(3, points[i]).run();
  return out;
}

void Store::submitted(std::uint64_t batch, const std::string& job) {
  write();
  Statement(db_, "UPDATE batches SET job = ? WHERE id = ?").bind(1, job).bind(2, batch).run();
}

void Store::close_batch(std::uint64_t batch) {
  write();
  Statement(db_, "UPDATE batches SET open = 0 WHERE id = ?").bind(1, batch).run();
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> Store::open_points(std::uint64_t batch) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
  Statement s(db_, "SELECT task, id FROM points WHERE batch = ? AND state = 'running' ORDER BY id");
  s.bind(1, batch);
  while (s.step())
    out.emplace_back(static_cast<std::uint64_t>(s.integer(0)), static_cast<std::uint64_t>(s.integer(1)));
  return out;
}

}  // namespace simtlab::studies::sweep
