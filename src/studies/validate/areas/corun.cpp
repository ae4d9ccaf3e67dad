// simtlab validate corun: the interference model beside the thesis's sentences; SHARK against MPS on seeded
// mixes beside its published claims.
#include "studies/validate/areas/corun.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "device/catalogue.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/corun/study.h"
#include "studies/validate/areas/hosts.h"
#include "studies/validate/reference.h"

namespace simtlab::studies {
namespace {

struct CorunValidation : ValidationOptions {
  std::string against = "thesis";
  std::optional<std::size_t> given_mixes;
  std::optional<double> given_shorten;
  std::size_t mixes = 30;
  std::uint64_t seed = 1;
  double shorten = 20;
  std::string model;
  HostComparison cycle;  // what is for that alone
  std::optional<std::size_t> size;
  std::optional<std::uint32_t> limit;
};

class CorunReport {
 public:
  CorunReport(const CorunValidation& o, const volatile bool* stop) : o_(o), stop_(stop) {
    const auto folder = device::data_directory() / "corun";
    files_ = {folder / "titanx-thesis.toml",
              o.model.empty() ? folder / "model-titanx.toml" : std::filesystem::path(o.model),
              folder / "statements.csv"};
    profiles_ = corun::load_profiles(files_[0]);
    model_ = corun::load_model(files_[1]);
  }

  void run() {
    curves();
    mixes();
    claims();
    text_ += fmt::format("\n{} of {} statements are reproduced.\n", targets_ - misses_.size(), targets_);
    result_.total.set("validate.targets.missed", static_cast<std::uint64_t>(misses_.size()));
  }

  const std::vector<std::filesystem::path>& files() const { return files_; }
  const std::string& text() const { return text_; }
  result::Result& result() { return result_; }
  const std::vector<std::string>& misses() const { return misses_; }
  const std::vector<studies::validate::Row>& rows() const { return rows_; }

 private:
  // ---- figures 5.1 to 5.3

  double at_most_intensity(const std::string& application, corun::Disturbance kind) const {
    const std::vector<std::string> names = {application};
    const corun::Workload w = corun::workloads(profiles_, names, 1).front();
    return corun::disturbed(w, model_, corun::disturbance(model_, kind, corun::intensities - 1)) /
           corun::disturbed(w, model_, corun::disturbance(model_, kind, 0));
  }

  std::string verdict(bool met, const std::string& what) {
    ++targets_;
    if (!met) misses_.push_back(what);
    return met ? "met" : "missed";
  }

  // How many applications are affected less.
  std::size_t less_affected(double value, corun::Disturbance kind) const {
    std::size_t out = 0;
    for (const auto& [name, app] : profiles_.applications)
      out += at_most_intensity(name, kind) < value ? 1 : 0;
    return out;
  }

  void curves() {
    text_ +=
        "## Interference at the highest intensity against the lowest: model and thesis\n\nThe model's "
        "weights were fitted to these sentences: agreement is in sample.\n\n| figure | application | "
        "disturbed by | model | thesis | |\n|---|---|---|---|---|---|\n";
    const studies::validate::Table table = studies::validate::Table::read(files_[2]);
    for (std::size_t i = 0; i < table.size(); ++i) {
      const std::string &app = table.text(i, "application"), &by = table.text(i, "disturbed_by"),
                        &relation = table.text(i, "relation");
      const auto kind = std::ranges::find(
          corun::disturbances, by, [](corun::Disturbance d) { return std::string(corun::name_of(d)); });
      if (kind == std::end(corun::disturbances) || !profiles_.applications.contains(app))
        throw Error(ExitCode::bad_input, "measured-syntax", fmt::format("statements.csv: {} {}", app, by));
      const double value = at_most_intensity(app, *kind), stated = table.number(i, "value");
      bool met = false;
      if (relation == "about")
        met = std::abs(value - stated) <= table.number(i, "tolerance");
      else if (relation == "below")
        met = value < stated;
      else if (relation == "above")
        met = value > stated;
      else if (relation == "least")
        met = static_cast<double>(less_affected(value, *kind)) < stated;
      else if (relation == "more-than")
        met = value > at_most_intensity("BH", *kind) && value > at_most_intensity("HW", *kind);
      else
        throw Error(ExitCode::bad_input, "measured-syntax",
                    fmt::format("statements.csv: there is no relation {}", relation));
      const std::string& statement = table.text(i, "statement");
      statement_row(table, i, value, met, *kind);
      text_ += fmt::format(
          "| {} | {} | {} | {:.3f} | {} | {} |\n", table.text(i, "figure"), app, by, value, statement,
          verdict(met, fmt::format("{} beside {}: {:.3f}, \"{}\"", app, by, value, statement)));
      result::KernelResult& k = result_.kernels.emplace_back();
      k.name = k.demangled = fmt::format("{}: {}", app, by);
      k.metrics.set("corun.interfere.slowdown", value);
    }
  }

  // What the relation allows. Of those that compare with other applications: the greatest, or least, of
  // these.
  void statement_row(const studies::validate::Table& table, std::size_t i, double value, bool met,
                     corun::Disturbance kind) {
    const std::string& relation = table.text(i, "relation");
    const double stated = table.number(i, "value");
    std::optional<double> low, high;
    if (relation == "about")
      low = stated - table.number(i, "tolerance"), high = stated + table.number(i, "tolerance");
    if (relation == "below") high = stated;
    if (relation == "above") low = stated;
    if (relation == "more-than") low = std::max(at_most_intensity("BH", kind), at_most_intensity("HW", kind));
    const bool counted = relation == "least";
    studies::validate::Row row = studies::validate::bounded_row(
        "interference", table.text(i, "application"),
        fmt::format("{}: beside {}{}", table.text(i, "id"), table.text(i, "disturbed_by"),
                    counted ? ", applications that are affected less" : ""),
        counted ? "1" : "times", low, counted ? std::optional<double>(stated - 1) : high,
        counted ? static_cast<double>(less_affected(value, kind)) : value);
    add_statement(std::move(row), met, "data/corun/statements.csv",
                  fmt::format("figure {}: {}", table.text(i, "figure"), table.text(i, "statement")))
        .role = studies::validate::Role::tuned;
  }

  // A statement holds or does not: at its very bound the verdict decides.
  studies::validate::Row& add_statement(studies::validate::Row row, bool met, const std::string& source,
                                        const std::string& note) {
    row.target = 0.0;
    if (!met && row.error == 0) row.error = 1e-6;
    row.source = source, row.note = note;
    return rows_.emplace_back(std::move(row));
  }

  // ---- mixes

  void study(const std::string& set, std::vector<std::vector<std::string>> mixes) {
    CorunStudy s;
    s.policies = {"mps", "shark"};
    s.limits = {1};  // what alone means in figure 6.2
    for (const std::uint32_t limit : {2u, 4u, 8u, 16u})
      if (limit <= mixes.front().size()) s.limits.push_back(limit);
    s.mixes = std::move(mixes);
    s.profiles = profiles_;
    s.options.model = model_;
    s.shorten = o_.shorten;
    s.stop = stop_;
    for (CorunCell& cell : run_study(s)) {
      if (cell.limit > 1) row(set, cell);
      cells_.emplace(std::tuple(set, cell.limit, cell.policy), std::move(cell));
    }
  }

  void row(const std::string& set, const CorunCell& c) {
    const auto [least, most] = std::ranges::minmax(c.speedups_gpu);
    text_ += fmt::format(
        "| {} | {} | {} | {:.3f} ({:.2f} to {:.2f}) | {:.3f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", set,
        c.limit, c.policy, c.gpu.speedup, least, most, c.turnaround.speedup, c.gpu.judged.antt,
        c.turnaround.judged.antt, c.gpu.judged.stp, c.turnaround.judged.stp);
    result::KernelResult& k = result_.kernels.emplace_back();
    k.name = k.demangled = fmt::format("{}, limit {}, {}", set, c.limit, c.policy);
    set_metrics(c, k.metrics);
  }

  void mixes() {
    text_ += fmt::format(
        "\n## SHARK against MPS: {} random mixes of each size (seed {}), applications shortened {:g} "
        "times\n\nSpeed-up: geometric mean over the applications against mps with the same limit, mean "
        "(range) over the mixes. "
        "Time on the GPU leaves waiting out, as the thesis does; turnaround has it.\n\n"
        "| mixes | limit | policy | speed-up, GPU | turnaround | ANTT, GPU | turnaround | STP, GPU | "
        "turnaround |\n|---|---|---|---|---|---|---|---|---|\n",
        o_.mixes, o_.seed, o_.shorten);
    std::vector<std::string> names;
    for (const auto& [name, app] : profiles_.applications) names.push_back(name);
    for (const std::size_t size : {std::size_t{4}, std::size_t{8}, std::size_t{16}})
      study(fmt::format("{} of {}", o_.mixes, size), corun::random_mixes(names, o_.mixes, size, o_.seed));
    // As 16a, d, g and j of the thesis, of which only that is known: four heartwalls. The other twelve are
    // drawn.
    std::vector<std::string> others = names;
    std::erase(others, "HW");
    std::vector<std::vector<std::string>> heavy = corun::random_mixes(others, 4, 12, o_.seed);
    for (auto& mix : heavy) mix.insert(mix.begin(), 4, "HW");
    study("4 of 16 with four HW", heavy);
  }

  const CorunCell& cell(const std::string& set, std::uint32_t limit, const char* policy = "shark") const {
    return cells_.at({set, limit, policy});
  }
  std::string of(std::size_t size) const { return fmt::format("{} of {}", o_.mixes, size); }

  struct Bounds {
    std::optional<double> low, high;
  };
  // ours: what is compared with the bounds.
  void claim(const char* id, const std::string& statement, const std::string& value, bool met, double ours,
             Bounds bounds) {
    add_statement(studies::validate::bounded_row("mixes", id, statement, "1", bounds.low, bounds.high, ours),
                  met, "SHARK thesis, time on the GPU", value);
    text_ += fmt::format("| {} | {} | {} | {} |\n", id, statement, value,
                         verdict(met, fmt::format("{}: {}", statement, value)));
  }

  void claims() {
    text_ += "\n## Published statements\n\n| row | thesis (time on the GPU) | here | |\n|---|---|---|---|\n";
    const std::string four = "4 of 16 with four HW";
    const auto least = [](const CorunCell& c) { return std::ranges::min(c.speedups_gpu); };
    const CorunCell& heavy = cell(four, 8);
    claim("T192-T195", "above 1.4 in each of the four mixes with four HW, limit 8",
          fmt::format("{:.2f} to {:.2f}", least(heavy), std::ranges::max(heavy.speedups_gpu)),
          least(heavy) > 1.4, least(heavy), {1.4, {}});
    claim("T196", "better in every mix of 16 at limit 8",
          fmt::format("least {:.2f}, mean {:.3f}", least(cell(of(16), 8)), cell(of(16), 8).gpu.speedup),
          least(cell(of(16), 8)) > 1, least(cell(of(16), 8)), {1.0, {}});
    claim("T197", "mixes of 4 at limit 4: mean slightly below 1",
          fmt::format("{:.4f}", cell(of(4), 4).gpu.speedup),
          cell(of(4), 4).gpu.speedup < 1 && cell(of(4), 4).gpu.speedup > 0.95, cell(of(4), 4).gpu.speedup,
          {0.95, 1.0});
    std::size_t below = 0;
    for (const auto& [key, c] : cells_)
      if (c.policy == "shark" && c.limit > 1 && std::get<0>(key) != four)
        below +=
            static_cast<std::size_t>(std::ranges::count_if(c.speedups_gpu, [](double s) { return s < 0.9; }));
    claim("T198", "below 0.9 in exactly one case", fmt::format("{} cases", below), below == 1,
          static_cast<double>(below), {1.0, 1.0});
    for (const std::uint32_t size : {4u, 8u, 16u}) {
      const double value = cell(of(size), size).gpu.speedup;
      claim("T199", fmt::format("about 1.00 when the limit is the size, {}", size),
            fmt::format("{:.3f}", value), std::abs(value - 1) < 0.02, value, {0.98, 1.02});
    }
    claim("T200", "mixes of 16: less at limit 16 than at limit 8",
          fmt::format("{:.3f} and {:.3f}", cell(of(16), 16).gpu.speedup, cell(of(16), 8).gpu.speedup),
          cell(of(16), 16).gpu.speedup < cell(of(16), 8).gpu.speedup, cell(of(16), 16).gpu.speedup,
          {{}, cell(of(16), 8).gpu.speedup});
    std::uint32_t best = 2;
    for (const std::uint32_t limit : {4u, 8u, 16u})
      if (cell(of(16), limit).gpu.speedup > cell(of(16), best).gpu.speedup) best = limit;
    claim("T192", "mixes of 16: the best limit is 8", fmt::format("{}", best), best == 8,
          static_cast<double>(best), {8.0, 8.0});
    falling("T201", "speed-up against alone falls as the limit grows, mixes of 16",
            [](const CorunCell& c) { return c.gpu.judged.gm; });
    falling("T204", "STP falls as the limit grows, mixes of 16",
            [](const CorunCell& c) { return c.gpu.judged.stp; });
    const double shark = cell(of(16), 8).gpu.judged.gm, mps = cell(of(16), 8, "mps").gpu.judged.gm;
    claim("T201", "and less under SHARK than under MPS (limit 8)",
          fmt::format("{:.3f} and {:.3f}", shark, mps), shark > mps, shark, {mps, {}});
    const double antt = cell(of(16), 16, "mps").gpu.judged.antt;
    claim("T202", "mixes of 16 at limit 16: ANTT above 3", fmt::format("{:.2f}", antt), antt > 3, antt,
          {3.0, {}});
  }

  template <typename Figure>
  void falling(const char* id, const char* statement, Figure figure) {
    std::string values;
    bool met = true;
    double before = 1e300, rises = 0;
    for (const std::uint32_t limit : {1u, 2u, 4u, 8u, 16u}) {
      const double shark = figure(cell(of(16), limit)), mps = figure(cell(of(16), limit, "mps"));
      values += fmt::format("{}{:.2f}", values.empty() ? "" : ", ", shark);
      if (!(shark < before && mps <= before)) met = false, ++rises;
      before = std::max(shark, mps);
    }
    claim(id, statement, values, met, rises, {{}, 0.0});
  }

  const CorunValidation& o_;
  const volatile bool* stop_;
  std::vector<std::filesystem::path> files_;
  corun::Profiles profiles_;
  corun::InterferenceModel model_;
  std::map<std::tuple<std::string, std::uint32_t, std::string>, CorunCell> cells_;
  std::string text_;
  result::Result result_;
  std::vector<std::string> misses_;
  std::vector<studies::validate::Row> rows_;
  std::size_t targets_ = 0;
};

// The fast host beside the cycle-level one.
Outcome validate_hosts(const Command& app, const CorunValidation& o) {
  if (o.check)
    throw Error(ExitCode::usage, "option-conflict", "--check has no effect with --host cycle",
                "no published figure says how near the two hosts should be");
  HostComparison c = o.cycle;
  c.mixes = o.given_mixes.value_or(c.mixes);
  c.size = o.size.value_or(c.size);
  c.limit = o.limit.value_or(c.limit);
  c.seed = o.seed;
  c.model = o.model;
  c.keep = o;
  if (!c.given.has("gpu")) c.given.set("gpu", "titanx-maxwell");  // the one that the model is of
  return compare_hosts(app, std::move(c));
}

std::optional<std::string> option_of_mixes(const CorunValidation& o) {
  if (o.given_mixes) return "--mixes";
  if (o.given_shorten) return "--shorten";
  if (o.seed != 1) return "--seed";
  if (!o.model.empty()) return "--model";
  return std::nullopt;
}

AreaReport run_corun(CorunValidation o, const volatile bool* stop) {
  o.mixes = o.given_mixes.value_or(o.mixes);
  o.shorten = o.given_shorten.value_or(o.shorten);
  CorunReport report(o, stop);
  check_inputs(o.output, report.files());
  report.run();
  AreaReport out{"corun", report.text(), report.result(), report.misses(), report.rows()};
  out.result.manifest.mode = "corun";
  out.result.manifest.seed = o.seed;
  out.result.manifest.inputs = hash_inputs(report.files());
  return out;
}

Outcome validate_corun(CorunValidation o) {
  const RunClock clock;
  if (o.given_shorten && !std::isfinite(*o.given_shorten))
    throw Error(ExitCode::usage, "option-value", "--shorten takes a number");
  check_validation(o, {"corun"}, option_of_mixes(o));
  return validated(o, clock, [&](const volatile bool* stop) { return run_corun(o, stop); });
}

}  // namespace

namespace {

void add_host_options(Command& sub, CorunValidation& o) {
  const auto group = "With --host cycle";
  const ReadBy cycle(sub, options::Study::mix_cycle);
  sub.add_option("--size", o.size, "Applications of a mix (default 4)")
      ->check(in_range(1, 64))
      ->type_name("N")
      ->group(group);
  sub.add_option("--limit", o.limit, "Launches on the GPU at a time (default 2)")
      ->check(in_range(1, 1 << 20))
      ->type_name("N")
      ->group(group);
  sub.add_option("--policy", o.cycle.policies, "Policies whose rank is compared (default: all)")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->one_at_a_time()
      ->group(group);
  sub.add_option("--applications", o.cycle.applications,
                 "What the mixes are drawn from (TOML, docs/concepts/corun.md; default: examples/corun.toml)")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(group);
  add_options(sub, options::Study::mix_cycle, o.cycle.given);
}

}  // namespace

void add_validate_corun(Command& validate) {
  Command* sub = validate.add_subcommand(
      "corun", "Applications that share a GPU: interference and SHARK against MPS beside the SHARK thesis");
  const auto o = std::make_shared<CorunValidation>();
  sub->add_option("--host", o->against,
                  "fast: beside the thesis (default); cycle: the fast host beside the cycle-level one")
      ->check(one_of({"fast", "cycle"}))
      ->type_name("HOST");
  sub->add_option("--mixes", o->given_mixes, "Random mixes of each size (default 30; with --host cycle 20)")
      ->check(in_range(1, 10000))
      ->type_name("N");
  sub->add_option("--seed", o->seed, "Of the mixes (default 1)")->type_name("N");
  read_by(
      sub->add_option("--shorten", o->given_shorten, "Applications do 1/X of their iterations (default 20)")
          ->check(in_range(1.0, 1e6))
          ->type_name("X"),
      options::Study::mix_alone);
  sub->add_option("--model", o->model,
                  "Other parameters of the interference model; with --host cycle: this model instead of that "
                  "of the SMs")
      ->check(not_empty())
      ->type_name("FILE");
  add_host_options(*sub, *o);
  add_validation_options(*sub, *o, nullptr);
  sub->action([o](const Call& call) {
    const bool cycle = o->against == "cycle";
    refuse_unread(call.command, cycle ? options::Study::mix_cycle : options::Study::mix_alone);
    return cycle ? validate_hosts(call.command, *o) : validate_corun(*o);
  });
}

AreaReport corun_area(const volatile bool* stop) { return run_corun({}, stop); }

AreaReport hosts_area(const Command& app, const volatile bool* stop) {
  HostComparison c;
  c.given.set("gpu", "titanx-maxwell");
  return host_area(app, c, stop);
}

}  // namespace simtlab::studies
