// A result as an SQLite database, built in memory: nobody ever sees half of it.
#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>

#include "base/error.h"
#include "report/export.h"
#include "result/json.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Metrics;
using result::Result;

constexpr int application_id = 0x73696d74;  // "simt": `file` tells our databases from others

class Database {
 public:
  Database() {
    sqlite3* raw = nullptr;
    const int status = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    db_.reset(raw);
    if (status != SQLITE_OK) fail();
  }

  void run(const std::string& sql) {
    if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }

  // A statement that is filled and run once a row.
  class Insert {
   public:
    Insert(Database& db, const std::string& table, std::size_t columns) : db_(db) {
      std::string marks = "?";
      for (std::size_t i = 1; i < columns; ++i) marks += ",?";
      sqlite3_stmt* raw = nullptr;
      if (sqlite3_prepare_v2(db.db_.get(), fmt::format("INSERT INTO {} VALUES ({})", table, marks).c_str(),
                             -1, &raw, nullptr) != SQLITE_OK)
        db.fail();
      statement_.reset(raw);
    }

    Insert& add(const std::string& text) {
      return check(sqlite3_bind_text(statement_.get(), ++at_, text.data(), static_cast<int>(text.size()),
                                     SQLITE_TRANSIENT));
    }
    Insert& add(double value) { return check(sqlite3_bind_double(statement_.get(), ++at_, value)); }
    Insert& add(std::int64_t value) { return check(sqlite3_bind_int64(statement_.get(), ++at_, value)); }
    // SQLite's whole numbers end at 2^63: what is larger becomes a real number.
    Insert& add(std::uint64_t value) {
      return value >> 63 == 0 ? add(static_cast<std::int64_t>(value)) : add(static_cast<double>(value));
    }
    Insert& nothing() { return check(sqlite3_bind_null(statement_.get(), ++at_)); }
    Insert& add(const result::Cell& cell) {
      return std::visit(
          [&](const auto& value) -> Insert& {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
              return nothing();
            else
              return add(value);
          },
          cell);
    }
    void row() {
      if (sqlite3_step(statement_.get()) != SQLITE_DONE) db_.fail();
      sqlite3_reset(statement_.get());
      at_ = 0;
    }

   private:
    Insert& check(int status) {
      if (status != SQLITE_OK) db_.fail();
      return *this;
    }
    Database& db_;
    std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement_{nullptr, sqlite3_finalize};
    int at_ = 0;
  };

  std::string bytes() {
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> image(
        sqlite3_serialize(db_.get(), "main", &size, 0), sqlite3_free);
    if (image == nullptr) fail();
    return {reinterpret_cast<const char*>(image.get()), static_cast<std::size_t>(size)};
  }

  [[noreturn]] void fail() {
    throw Error(ExitCode::failure, "report-sqlite",
                fmt::format("SQLite refuses: {}", sqlite3_errmsg(db_.get())));
  }

 private:
  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> db_{nullptr, sqlite3_close};
};

using Insert = Database::Insert;

constexpr const char* schema_text = R"(
CREATE TABLE manifest(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE configuration(key TEXT, value TEXT, origin TEXT, source TEXT);
CREATE TABLE inputs(path TEXT, xxh64 TEXT);
CREATE TABLE kernels(id INTEGER PRIMARY KEY, name TEXT, demangled TEXT, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER,
  block_z INTEGER, shared_bytes INTEGER, registers INTEGER, launches INTEGER, limiter TEXT, bottleneck TEXT, partial INTEGER);
CREATE TABLE declarations(name TEXT PRIMARY KEY, unit TEXT, scope TEXT, meaning TEXT, formula TEXT) WITHOUT ROWID;
CREATE TABLE metrics(kernel INTEGER REFERENCES kernels(id), name TEXT, value, unit TEXT);
CREATE TABLE not_modelled(kernel INTEGER REFERENCES kernels(id), deviation TEXT);
CREATE TABLE lines(kernel INTEGER REFERENCES kernels(id), line INTEGER, function TEXT, ptx_line INTEGER, ptx TEXT, code TEXT, file TEXT, source_line INTEGER, source TEXT,
  instructions INTEGER, threads INTEGER, requests INTEGER, sectors INTEGER, shared_passes INTEGER, shared_conflicts INTEGER, loads INTEGER, load_cycles INTEGER);
CREATE TABLE line_slots(kernel INTEGER REFERENCES kernels(id), line INTEGER, reason TEXT, slots INTEGER);
CREATE TABLE series(kernel INTEGER REFERENCES kernels(id), row INTEGER, name TEXT, value REAL);
CREATE INDEX metrics_by_name ON metrics(name, kernel);
)";

void manifest(Database& db, const result::Manifest& m) {
  Insert row(db, "manifest", 2);
  const auto text = [&](const char* key, const std::string& value) {
    row.add(std::string(key)).add(value).row();
  };
  text("version", m.tool_version);
  text("command", m.command_line);
  text("working_directory", m.working_directory);
  text("start_time", m.start_time);
  text("host", m.host);
  text("device", m.device);
  text("mode", m.mode);
  text("failure", m.failure);
  row.add(std::string("wall_time_s")).add(m.wall_seconds).row();
  row.add(std::string("seed")).add(m.seed).row();
  row.add(std::string("interrupted")).add(std::uint64_t{m.interrupted}).row();
  row.add(std::string("schema")).add(std::uint64_t{result::json_schema}).row();
  Insert values(db, "configuration", 4);
  for (const result::ConfigValue& c : m.configuration)
    values.add(c.key).add(c.value).add(c.origin).add(c.source).row();
  Insert inputs(db, "inputs", 2);
  for (const result::InputHash& i : m.inputs) inputs.add(i.path).add(i.xxh64).row();
}

void declarations(Database& db) {
  Insert row(db, "declarations", 5);
  for (const result::MetricDeclaration& d : result::registry())
    row.add(std::string(d.name))
        .add(std::string(d.unit))
        .add(std::string(d.scope))
        .add(std::string(d.doc))
        .add(std::string(d.formula))
        .row();
}

// kernel: none for the total.
void metrics(Insert& row, std::optional<std::uint64_t> kernel, const Metrics& all) {
  for (const Metrics::Value& v : all.values()) {
    kernel ? row.add(*kernel) : row.nothing();
    row.add(v.name);
    v.is_integer ? row.add(v.integer) : row.add(v.real);
    row.add(std::string(result::find_metric(v.name)->unit)).row();
  }
}

void lines(Database& db, std::uint64_t kernel, const result::Profile& p) {
  Insert row(db, "lines", 17), slots(db, "line_slots", 4);
  for (std::uint64_t i = 0; i < p.lines.size(); ++i) {
    const result::LineProfile& l = p.lines[i];
    row.add(kernel)
        .add(i)
        .add(l.function)
        .add(std::uint64_t{l.ptx_line})
        .add(l.ptx)
        .add(l.code)
        .add(l.file)
        .add(std::uint64_t{l.line})
        .add(l.text);
    for (const std::uint64_t n : {l.instructions, l.threads, l.requests, l.sectors, l.shared_passes,
                                  l.shared_conflicts, l.loads, l.load_cycles})
      row.add(n);
    row.row();
    for (std::size_t k = 0; k < l.slots.size(); ++k)
      if (l.slots[k] != 0) slots.add(kernel).add(i).add(p.reasons[k]).add(l.slots[k]).row();
  }
}

void series(Database& db, std::uint64_t kernel, const result::Series& s) {
  Insert row(db, "series", 4);
  for (std::uint64_t i = 0; i < s.rows.size(); ++i)
    for (std::size_t k = 0; k < s.columns.size(); ++k)
      row.add(kernel).add(i).add(s.columns[k]).add(s.rows[i][k]).row();
}

// Names of declarations have no quotes
std::string in_quotes(std::string_view name) { return fmt::format("\"{}\"", name); }

void tables(Database& db, const Result& result) {
  for (const result::TableDeclaration& d : result::table_registry()) {
    std::string columns = "kernel INTEGER REFERENCES kernels(id)";
    for (const result::ColumnDeclaration& c : d.columns) columns += ", " + in_quotes(c.name);
    const std::string name = in_quotes(fmt::format("table_{}", d.name));
    bool made = false;
    for (std::uint64_t k = 0; k < result.kernels.size(); ++k) {
      const result::Table* t = result::find(result.kernels[k].tables, d.name);
      if (t == nullptr) continue;
      if (!made) db.run(fmt::format("CREATE TABLE {}({})", name, columns));
      made = true;
      Insert row(db, name, d.columns.size() + 1);
      for (const std::vector<result::Cell>& cells : t->rows) {
        row.add(k);
        for (const result::Cell& c : cells) row.add(c);
        row.row();
      }
    }
  }
}

void kernels(Database& db, const Result& result) {
  Insert row(db, "kernels", 15), values(db, "metrics", 4), missing(db, "not_modelled", 2);
  metrics(values, std::nullopt, result.total);
  for (std::uint64_t i = 0; i < result.kernels.size(); ++i) {
    const KernelResult& k = result.kernels[i];
    row.add(i).add(k.name).add(k.demangled);
    for (const std::uint32_t n : {k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2]})
      row.add(std::uint64_t{n});
    row.add(k.shared_bytes)
        .add(std::uint64_t{k.registers})
        .add(std::uint64_t{k.launches})
        .add(k.limiter)
        .add(k.bottleneck)
        .add(std::uint64_t{k.partial})
        .row();
    metrics(values, i, k.metrics);
    for (const std::string& id : k.not_modelled) missing.add(i).add(id).row();
    lines(db, i, k.profile);
    series(db, i, k.series);
  }
}

}  // namespace

std::string sqlite_database(const Result& result) {
  Database db;
  db.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; BEGIN;", application_id,
                     result::json_schema));
  db.run(schema_text);
  manifest(db, result.manifest);
  declarations(db);
  kernels(db, result);
  tables(db, result);
  db.run("COMMIT");
  return db.bytes();
}

}  // namespace simtlab::report
