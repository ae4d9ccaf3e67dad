// One SQL statement; an error of SQLite is an Error.
#pragma once

#include <cstdint>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace simtlab::studies::sweep {

class Statement {
 public:
  Statement(sqlite3* db, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int at, const std::string& text);
  Statement& bind(int at, std::int64_t value);
  Statement& bind(int at, std::uint64_t value);  // below 2^63
  Statement& bind(int at, double value);
  Statement& bind_blob(int at, const std::string& bytes);
  bool step();  // whether there is a row
  // To its end; ready for the next values, which begin as nothing
  void run();
  std::string text(int column) const;  // also of blobs; empty for nothing
  std::int64_t integer(int column) const;
  double real(int column) const;

 private:
  [[noreturn]] void fail() const;
  Statement& check(int code);

  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace simtlab::studies::sweep
