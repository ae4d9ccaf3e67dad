// Metrics and results. A metric is declared once (registry.cpp); a result only names it.
// "Not modelled" is absent, never zero.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "result/findings.h"
#include "result/profile.h"
#include "result/table.h"

namespace simtlab::result {

// How the values of several launches become one value of their total.
enum class Combine : std::uint8_t {
  sum,       // counters and times of launches that ran one after another
  max,       // high-water marks
  weighted,  // ratios: mean weighted by `weight`, the ratio's own denominator, hence exact
  none,      // has no meaning over launches: absent from totals unless a caller sets it
};

struct MetricDeclaration {
  std::string_view name;     // "l1.read.misses"; a trailing ".*" declares a family (stall.*)
  std::string_view unit;     // "ns", "cycles", "bytes", "1", "%" never: shares are ratios with unit "1"
  std::string_view doc;      // one sentence
  std::string_view scope;    // "kernel", "total", "host"
  std::string_view formula;  // if derived, in names of other metrics
  std::string_view aliases;  // "nvprof: a; ncu: b; gpgpu-sim: c", only those that exist
  Combine combine = Combine::none;
  std::string_view weight;  // Combine::weighted: the metric that weighs
};
const std::vector<MetricDeclaration>& registry();
// The declaration of a name, or of the family it belongs to ("stall.barrier" -> "stall.*"); null if there is
// none.
const MetricDeclaration* find_metric(std::string_view name);

// Flat set of metrics in the order of their first setting. Setting an undeclared name or a value that is not
// finite is a broken invariant (throws logic_error).
class Metrics {
 public:
  void set(std::string_view name, double value);
  void set(std::string_view name, std::uint64_t value);
  std::optional<double> get(std::string_view name) const;
  struct Value {
    std::string name;
    bool is_integer = false;
    std::uint64_t integer = 0;
    double real = 0;
    bool operator==(const Value&) const = default;
  };
  const std::vector<Value>& values() const { return values_; }
  bool operator==(const Metrics&) const = default;

 private:
  std::vector<Value> values_;
};

struct KernelResult {
  std::string name;  // mangled, as in PTX
  std::string demangled;
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint64_t shared_bytes = 0;  // static + dynamic
  std::uint32_t registers = 0;
  std::uint32_t launches = 1;  // launches with equal name merged only in `total`
  bool partial = false;        // stopped before its end
  Metrics metrics;
  std::string limiter;                    // occupancy limiter, e.g. "registers"
  std::string bottleneck;                 // one sentence with its evidence
  std::vector<std::string> not_modelled;  // deviation ids, e.g. "D-012"
  Profile profile;                        // --lines
  Series series;                          // --series
  std::string order;                      // of a cache study: the order of accesses, e.g. "gto"
  std::vector<Table> tables;              // of a cache study
};

struct ConfigValue {
  std::string key, value, origin, source;
};
struct InputHash {
  std::string path, xxh64;
};

struct Manifest {
  // Mode: "timing" | "functional" | "cache"
  std::string tool_version, command_line, working_directory, start_time, host, device, mode;
  double wall_seconds = 0;
  std::uint64_t seed = 0;
  std::vector<ConfigValue> configuration;
  std::vector<InputHash> inputs;
  std::optional<int> program_exit_status;
  bool interrupted = false;
  std::string stopped_at;  // where the simulation was when it was stopped; may be empty
  std::string failure;     // text of the error that ended the run (Error::format()), empty if none
  std::string failure_id;  // its id, for `simtlab explain`
  int failure_code = 0;    // its exit code
};

struct Result {
  Manifest manifest;
  Metrics total;
  std::vector<KernelResult> kernels;
  std::optional<CheckResult> check;  // of `simtlab check`
};

}  // namespace simtlab::result
