// Profiles in an SQLite file. One table of kernels, one of applications; a format number, so that a later
// simtlab can tell.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/shown.h"
#include "corun/profiles.h"

namespace simtlab::corun {
namespace {

constexpr int format_number = 3;  // 2: cold_time and footprint; 3: whose kernel it is
constexpr int programs_since = 3;
constexpr int application_number = 0x53494d43;  // "SIMC": what SQLite calls application_id
constexpr int most_rows = 1'000'000;

class Database {
 public:
  Database(const std::filesystem::path& path, int flags) : name_(path.string()) {
    const int code = sqlite3_open_v2(name_.c_str(), &db_, flags, nullptr);
    if (code != SQLITE_OK) {
      const std::string text = db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(code);
      sqlite3_close(db_);
      throw Error(ExitCode::failure, "corun-database",
                  fmt::format("profile database {}: {}", shown(name_), shown(text)));
    }
    sqlite3_busy_timeout(db_, 10000);
    sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, 1 << 20);
  }
  ~Database() { sqlite3_close(db_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  [[noreturn]] void fail() const {
    throw Error(ExitCode::failure, "corun-database",
                fmt::format("profile database {}: {}", shown(name_), shown(sqlite3_errmsg(db_))));
  }
  [[noreturn]] void foreign(const std::string& why) const {
    throw Error(ExitCode::bad_input, "corun-database",
                fmt::format("{} is no profile database of this simtlab: {}", shown(name_), why),
                "name another file, or export it with the simtlab that wrote it");
  }
  void run(const char* sql) const {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }
  int number(const char* pragma) const;
  sqlite3* get() const { return db_; }

 private:
  std::string name_;
  sqlite3* db_ = nullptr;
};

class Statement {
 public:
  Statement(const Database& db, const std::string& sql) : db_(db) {
    if (sqlite3_prepare_v2(db.get(), sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) db.fail();
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int at, const std::string& text) {
    check(sqlite3_bind_text(statement_, at, text.c_str(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
  }
  void bind(int at, double value) { check(sqlite3_bind_double(statement_, at, value)); }
  void bind(int at, std::int64_t value) { check(sqlite3_bind_int64(statement_, at, value)); }
  void bind_nothing(int at) { check(sqlite3_bind_null(statement_, at)); }
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) db_.fail();
    return code == SQLITE_ROW;
  }
  void reset() { sqlite3_reset(statement_); }
  std::string text(int column) const {
    const auto* at = sqlite3_column_text(statement_, column);
    return at == nullptr ? ""
                         : std::string(reinterpret_cast<const char*>(at),
                                       static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }
  std::optional<double> number(int column) const {
    const int type = sqlite3_column_type(statement_, column);
    if (type == SQLITE_NULL) return std::nullopt;
    const double v = sqlite3_column_double(statement_, column);
    if ((type != SQLITE_FLOAT && type != SQLITE_INTEGER) || !std::isfinite(v) || v < 0)
      db_.foreign(fmt::format("column {} holds what is no figure", sqlite3_column_name(statement_, column)));
    return v;
  }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) db_.fail();
  }
  const Database& db_;
  sqlite3_stmt* statement_ = nullptr;
};

int Database::number(const char* pragma) const {
  Statement s(*this, pragma);
  return s.step() ? static_cast<int>(s.integer(0)) : 0;
}

// Of the figures that a database of that format has.
std::string columns(const char* type, int format = format_number) {
  std::string out;
  for (const ProfileField& f : profile_fields())
    if (f.since <= format) out += fmt::format(", {}{}", f.column, type);
  return out;
}

// Columns of values under names of the user's: "more.NAME".
std::vector<std::string> more_columns(const Database& db) {
  Statement s(db, "SELECT name FROM pragma_table_info('kernel') ORDER BY cid");
  std::vector<std::string> out;
  while (s.step()) {
    const std::string column = s.text(0);
    if (column.starts_with(more_prefix) && is_more_name(std::string_view(column).substr(more_prefix.size())))
      out.push_back(column.substr(more_prefix.size()));
  }
  return out;
}

std::string quoted(const std::vector<std::string>& more) {
  std::string out;
  for (const std::string& name : more) out += fmt::format(", \"{}{}\"", more_prefix, name);
  return out;
}

// Our own of an earlier format gets the columns that it lacks, in the transaction that writes.
void upgrade(const Database& db) {
  const int format = db.number("PRAGMA user_version");
  for (const ProfileField& f : profile_fields())
    if (f.since > format) db.run(fmt::format("ALTER TABLE kernel ADD COLUMN {} REAL", f.column).c_str());
  if (format < programs_since)
    for (const char* column : {"program", "content"})
      db.run(fmt::format("ALTER TABLE kernel ADD COLUMN {} TEXT NOT NULL DEFAULT ''", column).c_str());
  db.run(fmt::format("PRAGMA user_version = {}", format_number).c_str());
}

// An empty file becomes ours; a file of somebody else is left alone.
void check_format(const Database& db, bool create) {
  const int id = db.number("PRAGMA application_id"), format = db.number("PRAGMA user_version");
  if (id == application_number) {
    if (format < 1 || format > format_number)
      db.foreign(fmt::format("its format is {}, this simtlab knows {}", format, format_number));
    return;
  }
  if (id != 0 || format != 0 || db.number("SELECT count(*) FROM sqlite_master") != 0)
    db.foreign("it belongs to another program");
  if (!create) db.foreign("it is empty");
  db.run(("CREATE TABLE kernel (application TEXT NOT NULL, name TEXT NOT NULL, grid_x INTEGER, grid_y "
          "INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER" +
          columns(" REAL") +
          ", source TEXT NOT NULL, program TEXT NOT NULL DEFAULT '', content TEXT NOT NULL DEFAULT '', "
          "PRIMARY KEY (application, name))")
             .c_str());
  db.run(
      "CREATE TABLE application (name TEXT PRIMARY KEY, iterations INTEGER NOT NULL, gap_ns REAL NOT NULL, "
      "source TEXT NOT NULL)");
  db.run(
      "CREATE TABLE sequence (application TEXT NOT NULL, place INTEGER NOT NULL, kernel TEXT NOT NULL, "
      "PRIMARY KEY (application, place))");
  db.run(fmt::format("PRAGMA application_id = {}", application_number).c_str());
  db.run(fmt::format("PRAGMA user_version = {}", format_number).c_str());
}

std::optional<std::array<std::uint32_t, 3>> shape_at(const Database& db, const Statement& s, int column) {
  if (!s.number(column)) return std::nullopt;
  std::array<std::uint32_t, 3> out{};
  for (int i = 0; i < 3; ++i) {
    const std::int64_t v = s.integer(column + i);
    if (v < 1 || v > 0x7fffffff) db.foreign("a shape is not possible");
    out[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(v);
  }
  return out;
}

void read_kernels(const Database& db, Profiles& out) {
  const int format = db.number("PRAGMA user_version");
  const std::vector<std::string> more = more_columns(db);
  Statement s(db, "SELECT application, name, grid_x, grid_y, grid_z, block_x, block_y, block_z" +
                      columns("", format) + ", source" +
                      (format < programs_since ? ", '', ''" : ", program, content") + quoted(more) +
                      " FROM kernel");
  for (int rows = 0; s.step(); ++rows) {
    if (rows == most_rows) db.foreign(fmt::format("it holds more than {} kernels", most_rows));
    KernelProfile k;
    k.application = s.text(0);
    k.name = s.text(1);
    k.profile.grid = shape_at(db, s, 2);
    k.profile.block = shape_at(db, s, 5);
    int column = 8;
    for (const ProfileField& f : profile_fields())
      if (f.since <= format) k.profile.*f.value = s.number(column++);
    if (k.profile.memory_stall.value_or(0) > 1 || k.profile.time_ns.value_or(1) <= 0 ||
        k.profile.cold_time_ns.value_or(1) <= 0)
      db.foreign("a figure is not possible");
    k.source = s.text(column);
    k.program = s.text(column + 1);
    k.content = s.text(column + 2);
    column += 3;
    for (const std::string& name : more)
      if (const std::optional<double> v = s.number(column++)) k.profile.more.emplace(name, *v);
    if (k.profile.more.size() > most_more) db.foreign("a kernel has too many values of its own");
    out.add(std::move(k));
  }
}

void read_applications(const Database& db, Profiles& out) {
  Statement apps(db, "SELECT name, iterations, gap_ns, source FROM application");
  while (apps.step()) {
    Application a;
    a.name = apps.text(0);
    if (apps.integer(1) < 1) db.foreign("an application runs at least once");
    a.iterations = static_cast<std::uint64_t>(apps.integer(1));
    a.gap_ns = apps.number(2).value_or(0);
    a.source = apps.text(3);
    out.add(std::move(a));
  }
  Statement sequence(db, "SELECT application, kernel FROM sequence ORDER BY application, place");
  for (int rows = 0; sequence.step(); ++rows) {
    const auto at = out.applications.find(sequence.text(0));
    if (at == out.applications.end() || rows == most_rows ||
        out.find(sequence.text(0), sequence.text(1)) == nullptr)
      db.foreign("a sequence is not possible");
    at->second.sequence.push_back(sequence.text(1));
  }
  for (const auto& [name, a] : out.applications)
    if (a.sequence.empty()) db.foreign("an application has no kernels");
}

void bind_shape(Statement& s, int at, const std::optional<std::array<std::uint32_t, 3>>& shape) {
  for (int i = 0; i < 3; ++i) {
    if (shape)
      s.bind(at + i, static_cast<std::int64_t>((*shape)[static_cast<std::size_t>(i)]));
    else
      s.bind_nothing(at + i);
  }
}

// Columns that are not ours keep what they have.
void write_kernels(const Database& db, const Profiles& profiles) {
  std::vector<std::string> more = more_columns(db);
  for (const auto& [key, k] : profiles.kernels)
    for (const auto& [name, v] : k.profile.more)
      if (std::ranges::find(more, name) == more.end()) {
        more.push_back(name);
        db.run(fmt::format("ALTER TABLE kernel ADD COLUMN \"{}{}\" REAL", more_prefix, name).c_str());
      }
  std::string values = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?", set;
  for (std::size_t i = 0; i < profile_fields().size() + more.size(); ++i) values += ", ?";
  for (const char* column :
       {"grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "source", "program", "content"})
    set += fmt::format("{}{} = excluded.{}", set.empty() ? "" : ", ", column, column);
  for (const ProfileField& f : profile_fields()) set += fmt::format(", {0} = excluded.{0}", f.column);
  for (const std::string& name : more)
    set += fmt::format(", \"{0}{1}\" = coalesce(excluded.\"{0}{1}\", kernel.\"{0}{1}\")", more_prefix, name);
  Statement s(db,
              fmt::format("INSERT INTO kernel (application, name, grid_x, grid_y, grid_z, block_x, block_y, "
                          "block_z{}, source, program, content{}) VALUES ({}) ON CONFLICT (application, "
                          "name) DO UPDATE SET {}",
                          columns(""), quoted(more), values, set));
  for (const auto& [key, k] : profiles.kernels) {
    s.bind(1, k.application);
    s.bind(2, k.name);
    bind_shape(s, 3, k.profile.grid);
    bind_shape(s, 6, k.profile.block);
    int at = 9;
    for (const ProfileField& f : profile_fields()) {
      if (const auto& v = k.profile.*f.value)
        s.bind(at++, *v);
      else
        s.bind_nothing(at++);
    }
    s.bind(at, k.source), s.bind(at + 1, k.program), s.bind(at + 2, k.content);
    at += 3;
    for (const std::string& name : more) {
      if (const auto v = k.profile.more.find(name); v != k.profile.more.end())
        s.bind(at++, v->second);
      else
        s.bind_nothing(at++);
    }
    s.step();
    s.reset();
  }
}

void write_applications(const Database& db, const Profiles& profiles) {
  Statement app(db, "INSERT OR REPLACE INTO application VALUES (?, ?, ?, ?)"),
      clear(db, "DELETE FROM sequence WHERE application = ?"),
      step(db, "INSERT INTO sequence VALUES (?, ?, ?)");
  for (const auto& [name, a] : profiles.applications) {
    app.bind(1, name), app.bind(2, static_cast<std::int64_t>(a.iterations)), app.bind(3, a.gap_ns),
        app.bind(4, a.source);
    app.step(), app.reset();
    clear.bind(1, name);
    clear.step(), clear.reset();
    for (std::size_t i = 0; i < a.sequence.size(); ++i) {
      step.bind(1, name), step.bind(2, static_cast<std::int64_t>(i)), step.bind(3, a.sequence[i]);
      step.step(), step.reset();
    }
  }
}

}  // namespace

Profiles profiles_from_database(const std::filesystem::path& path) {
  Profiles out;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return out;
  const Database db(path, SQLITE_OPEN_READONLY);
  check_format(db, false);
  read_kernels(db, out);
  read_applications(db, out);
  return out;
}

void add_to_database(const Profiles& profiles, const std::filesystem::path& path) {
  const Database db(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  db.run("BEGIN IMMEDIATE");
  check_format(db, true);
  upgrade(db);
  write_kernels(db, profiles);
  write_applications(db, profiles);
  db.run("COMMIT");
}

}  // namespace simtlab::corun
