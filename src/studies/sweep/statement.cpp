#include "studies/sweep/statement.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/error.h"
#include "base/shown.h"

namespace simtlab::studies::sweep {

Statement::Statement(sqlite3* db, const char* sql) : db_(db) {
  if (sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr) != SQLITE_OK) fail();
}
Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::fail() const {
  const int code = sqlite3_errcode(db_);
  const char* name = sqlite3_db_filename(db_, "main");
  const bool input = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;
  const bool full = code == SQLITE_FULL || code == SQLITE_IOERR;
  throw Error(input ? ExitCode::bad_input : ExitCode::failure, "sweep-database",
              fmt::format("{}: {}", shown(name == nullptr ? "" : name), shown(sqlite3_errmsg(db_))),
              full ? "make room; the same command goes on, results that are in its .d folder are taken" : "");
}

Statement& Statement::check(int code) {
  if (code != SQLITE_OK) fail();
  return *this;
}

Statement& Statement::bind(int at, const std::string& text) {
  return check(sqlite3_bind_text64(statement_, at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}
Statement& Statement::bind_blob(int at, const std::string& bytes) {
  return check(sqlite3_bind_blob64(statement_, at, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
}
Statement& Statement::bind(int at, std::int64_t value) {
  return check(sqlite3_bind_int64(statement_, at, value));
}
Statement& Statement::bind(int at, std::uint64_t value) { return bind(at, static_cast<std::int64_t>(value)); }
Statement& Statement::bind(int at, double value) { return check(sqlite3_bind_double(statement_, at, value)); }

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) {}
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string()
                         : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

}  // namespace simtlab::studies::sweep
