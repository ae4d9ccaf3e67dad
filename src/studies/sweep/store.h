// A study's database: its points, what became of each, their results. An SQLite file in WAL mode: whatever
// moment the process is killed in, the file has what was committed.
//
// What a point's process wrote lies in a folder beside it (DATABASE.d) until it is committed, under a name
// that it got by a rename: a result that exists is whole, and is taken when the study goes on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "result/metrics.h"
#include "studies/sweep/study.h"

struct sqlite3;

namespace simtlab::studies::sweep {

class Statement;

inline constexpr int store_schema = 1;
inline constexpr int store_application = 0x53494d53;  // "SIMS"

enum class State : std::uint8_t { pending, running, done, failed };
std::string_view name_of(State state);

struct Point {
  std::uint64_t id = 0;           // from 1
  std::uint64_t combination = 0;  // repeats of one have the same
  std::uint64_t repeat = 0, seed = 0;
  std::vector<std::string> values;
  State state = State::pending;
  std::uint64_t attempts = 0;   // started
  double begun = 0, ended = 0;  // seconds since 1970, of the last attempt
  std::string host, worker;
  int exit_code = 0;
  std::string error_id, error;  // of a failed point
  std::uint64_t batch = 0;      // that it was given to a cluster with; 0: none
};

// What became of one attempt.
struct Outcome {
  std::uint64_t id = 0;
  int exit_code = 0;  // 128 + signal: it crashed
  double begun = 0, ended = 0;
  std::string host, worker;
  std::string error_id, error;  // if it failed
  std::optional<result::Result> result;
  std::string json;  // the result file's text; may be there of a failed point, too
};

struct Counts {
  std::uint64_t pending = 0, running = 0, done = 0, failed = 0;
  std::uint64_t all() const { return pending + running + done + failed; }
};

// A batch of points that was given to a cluster.
struct Batch {
  std::uint64_t id = 0;
  std::string name;  // of the job, known before it is submitted
  std::string job;   // its number; empty: not known to have been submitted
  std::uint64_t tasks = 0;
  bool open = true;
};

class Store {
 public:
  enum class Mode : std::uint8_t { write, read };
  // write: makes the file if it is not there, and keeps others from writing until the end of this object.
  // Throws Error: "sweep-database" (failure: the system refuses; bad_input: another program's file),
  // "sweep-schema" (bad_input: a newer one), "sweep-busy" (failure: somebody else runs it).
  Store(std::filesystem::path path, Mode mode);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  bool has_study() const;
  // Puts in all points, in one step. Throws as expand().
  Expansion begin(const Study& study, const volatile bool* stop);
  // Forgets the study that is there, with all that was kept of it.
  void clear();
  std::string definition() const;
  std::string value(const char* key) const;  // "name", "definition", "created", "version"; empty: none
  void set_value(const char* key, const std::string& value);

  std::vector<std::string> axis_names() const;
  Counts counts() const;
  // In order of id, from `first` on, at most `most`.
  std::vector<Point> points(State state, std::uint64_t first, std::size_t most) const;
  std::optional<Point> point(std::uint64_t id) const;
  void each_point(const std::function<void(const Point&)>& take) const;
  // Values of these metrics of a finished point, in this order; the metrics' names are of metric_names().
  std::vector<std::string> metric_names() const;
  std::string unit_of(const std::string& metric) const;
  void each_metric(const std::string& metric,
                   const std::function<void(std::uint64_t id, double value)>& take) const;
  // The result file of a point; empty: it has none.
  std::string result_json(std::uint64_t id) const;
  // Inputs that had different contents in different points: paths.
  std::vector<std::string> changed_inputs() const;

  void start(std::uint64_t id, double begun, const std::string& host, const std::string& worker);
  void finish(const Outcome& outcome);
  void give_back(std::uint64_t id);  // running or failed -> pending
  std::uint64_t give_back_all(State state);

  std::vector<Batch> batches(bool open_only) const;
  Batch add_batch(const std::string& prefix, const std::vector<std::uint64_t>& points,
                  std::uint64_t points_a_task);
  void submitted(std::uint64_t batch, const std::string& job);
  void close_batch(std::uint64_t batch);
  // Task and id of those that run
  std::vector<std::pair<std::uint64_t, std::uint64_t>> open_points(std::uint64_t batch) const;

  // Changes are kept at the next commit().
  void commit();
  bool uncommitted() const { return open_; }

  // Of a database that is thrown away: names are made as if it were that one.
  void stand_for(const std::filesystem::path& path);
  std::filesystem::path spool() const;  // the folder beside it
  std::filesystem::path result_file(std::uint64_t id) const;
  std::filesystem::path error_file(std::uint64_t id) const;
  int lock() const { return lock_; }

 private:
  void open_file(Mode mode);
  void lock_spool();
  void check_format(Mode mode);
  void make_tables();
  void write();  // begins a transaction if none is open
  void put_result(const Outcome& outcome);
  std::int64_t metric_id(const std::string& name, std::string_view unit);
  void exec(const char* sql) const;
  [[noreturn]] void fail() const;
  Point read_point(Statement& row) const;

  std::filesystem::path path_, named_;  // named_: for names, if it stands for another
  sqlite3* db_ = nullptr;
  int lock_ = -1;
  bool open_ = false;
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace simtlab::studies::sweep
