// simtlab list: what this installation knows.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "cache/order.h"
#include "cache/prefetcher.h"
#include "cli/commands/commands.h"
#include "cli/commands/installation.h"
#include "cli/commands/list_gpus.h"
#include "cli/commands/list_table.h"
#include "cli/commands/option_tree.h"
#include "corun/policy.h"
#include "device/known_plugins.h"
#include "device/memory_controller.h"
#include "device/policy_parameters.h"
#include "device/technology.h"
#include "memory/replacement.h"
#include "memory/set_index.h"
#include "probe/kinds.h"
#include "ptx/coverage.h"
#include "report/glossary.h"
#include "result/findings.h"
#include "studies/common/command.h"
#include "studies/common/output.h"
#include "studies/explain/exit_codes.h"
#include "timing/scheduler.h"

namespace simtlab::cli {
namespace {

std::string list_drams(const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : device::list_technologies()) {
    const device::Technology t = device::load_technology(name).technology;
    const device::Technology::Organisation& o = t.organisation;
    rows.push_back({name, t.standard, fmt::format("{} MT/s", t.data_rate),
                    fmt::format("{} bits", o.channel_width), report::format_rate(t.bytes_per_second()),
                    fmt::format("{} x {}", o.bank_groups, o.banks_per_group),
                    report::format_bytes(static_cast<double>(o.row_bytes))});
  }
  return list_table(
      {"name", "standard", "data rate", "channel", "peak of a channel", "groups x banks", "row"}, rows,
      format);
}

std::string list_controllers(const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : device::list_memory_controllers())
    rows.push_back({name, device::load_memory_controller(name).controller.description});
  return list_table({"name", "meaning"}, rows, format);
}

// How each is had and named stands below the table: as lines to copy.
std::string list_plugins(const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  std::string lines;
  for (const FoundPlugin& p : find_plugins()) {
    rows.push_back({p.name, p.simulator,
                    p.file.empty()      ? "not here"
                    : p.problem.empty() ? "ok"
                                        : p.problem,
                    p.file.empty() ? "-" : p.file});
    for (const device::KnownPlugin& known : device::known_plugins()) {
      if (known.name != p.name) continue;
      lines += fmt::format("\n{}\n", known.simulator);
      if (p.file.empty()) lines += fmt::format("  get    {}\n", device::how_to_get(known));
      const std::string file =
          p.file.empty() ? fmt::format("build/release/plugins/{}.so", known.name) : p.file;
      lines += fmt::format("  use    {}\n", device::how_to_name(known, file));
    }
  }
  return list_table({"name", "simulator", "state", "file"}, rows, format) + lines;
}

std::string list_stats(const ListFormat& format) {
  std::string out;
  if (format.markdown)
    out =
        "# Metrics\n\nGenerated from the registry by `simtlab list stats --markdown`; do not edit.\n\n"
        "Shares and rates are ratios from 0 to 1 (unit 1). A metric that was not modelled is absent, not "
        "zero. Scope `kernel`: of one\n"
        "launch, and of all launches under `total` of the JSON (sums, or means weighted by the denominator); "
        "`total`: of the whole\n"
        "program only; `host`: of the simulator itself, the only metrics that differ between equal runs.\n\n";
  std::vector<std::vector<std::string>> rows;
  for (const result::MetricDeclaration& m : result::registry()) {
    const auto cell = [&](std::string_view text, bool code) {
      return format.markdown && code && !text.empty() ? fmt::format("`{}`", text) : std::string(text);
    };
    if (format.markdown)
      rows.push_back({cell(m.name, true), cell(m.unit, false), cell(m.scope, false), cell(m.doc, false),
                      cell(m.formula, true), cell(m.aliases, false)});
    else
      rows.push_back({std::string(m.name), std::string(m.unit), std::string(m.scope), std::string(m.doc)});
  }
  if (format.markdown)
    return out + list_table({"name", "unit", "scope", "meaning", "formula", "names elsewhere"}, rows, format);
  return list_table({"name", "unit", "scope", "meaning"}, rows, format);
}

// "-o, --output FILE".
std::string spelled(const TreeOption& o) {
  std::string out;
  for (const std::string& name : o.names) out += (out.empty() ? "" : ", ") + name;
  // "[=FILE]" where it is optional
  if (!o.value.empty() && !o.positional)
    out += o.value_optional ? fmt::format("[={}]", o.value) : " " + o.value;
  return out;
}

void add_option_rows(const TreeCommand& command, std::vector<std::vector<std::string>>& rows) {
  for (const TreeOption& o : command.options) rows.push_back({command.path, spelled(o), o.description});
  for (const TreeCommand& below : command.commands) add_option_rows(below, rows);
}

std::string option_section(const TreeCommand& command, const Command& declared, const ListFormat& format) {
  std::string out = fmt::format("## {}\n\n{}\n\n", command.path,
                                command.description.substr(0, command.description.find("\n\n")));
  std::vector<std::vector<std::string>> rows;
  for (const TreeOption& o : command.options)
    rows.push_back({fmt::format("`{}`", spelled(o)), o.description + (o.required ? " (required)" : ""),
                    readers(declared, o.read_by)});
  if (std::ranges::all_of(rows, [](const auto& row) { return row.back().empty(); })) {
    for (auto& row : rows) row.pop_back();
    if (!rows.empty()) out += list_table({"option", "meaning"}, rows, format) + "\n";
  } else {
    out += list_table({"option", "meaning", "read by (nothing here: by all)"}, rows, format) + "\n";
  }
  if (!command.footer.empty()) out += fmt::format("```\n{}\n```\n\n", command.footer);
  for (const TreeCommand& below : command.commands)
    out += option_section(below, *declared.find_command(below.name), format);
  return out;
}

std::string list_options(const ListFormat& format) {
  const std::unique_ptr<Command> tool = all_commands();
  const TreeCommand tree = option_tree(*tool);
  if (format.markdown)
    return "# Options\n\nGenerated from the commands by `simtlab list options --markdown`; do not edit. "
           "[cli.md](cli.md) says how the commands belong together.\n\n" +
           option_section(tree, *tool, format);
  std::vector<std::vector<std::string>> rows;
  add_option_rows(tree, rows);
  return list_table({"command", "option", "meaning"}, rows, format);
}

std::string list_exit_codes(const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const ExitCodeText& e : exit_codes()) rows.push_back({fmt::format("{}", e.code), e.name, e.meaning});
  return list_table({"code", "name", "meaning"}, rows, format);
}

std::string list_errors(const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const report::Term& t : report::error_ids())
    rows.push_back({format.markdown ? fmt::format("`{}`", t.name) : std::string(t.name),
                    std::string(t.meaning), std::string(t.remedy)});
  const std::string head =
      "# Errors\n\nGenerated from the table of errors by `simtlab list errors --markdown`; do not edit.\n\n"
      "An error's name stands in brackets behind its message; `simtlab explain NAME` says what this table "
      "says.\n\n";
  return (format.markdown ? head : "") + list_table({"name", "meaning", "what to do"}, rows, format);
}

std::string list_checks(const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const result::FindingRule& rule : result::finding_rules())
    rows.push_back({format.markdown ? fmt::format("`{}`", rule.id) : std::string(rule.id),
                    std::string(rule.check), rule.level == result::Level::error ? "error" : "warning",
                    std::string(rule.title), std::string(rule.help)});
  const std::string head =
      "# Checks\n\nGenerated from the table of rules by `simtlab list checks --markdown`; do not edit.\n\n"
      "What `simtlab check` finds ([check.md](../guide/check.md)). The second column is the word for "
      "`--checks`; a finding of level warning fails a check only with `--level warning`.\n\n";
  return (format.markdown ? head : "") +
         list_table({"rule", "check", "level", "what", "what it means and what to do"}, rows, format);
}

template <class Entry>
std::string list_policies(std::span<const Named<Entry>> all, const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const Named<Entry>& one : all) rows.push_back({std::string(one.name), std::string(one.entry->doc)});
  return list_table({"name", "meaning"}, rows, format);
}

// A warp scheduler with the keys of its parameters.
std::string list_schedulers(const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, policy] : timing::scheduler_policies()) {
    rows.push_back({std::string(name), std::string(policy->doc)});
    for (const device::SchedulerParameter& p : policy->parameters) {
      rows.back()[1] += fmt::format("; scheduler.{}.{}: {}, {} to {}, default {}", name, p.name, p.doc,
                                    p.minimum, p.maximum, p.default_value);
    }
  }
  return list_table({"name", "meaning"}, rows, format);
}
std::string list_replacements(const ListFormat& format) {
  return list_policies(memory::replacement_rules(), format);
}
std::string list_orders(const ListFormat& format) { return list_policies(cache::order_policies(), format); }
std::string list_set_indexes(const ListFormat& format) {
  return list_policies(memory::set_index_rules(), format);
}

// Of a memory controller: with the parameters that a file or --set may give.
std::string list_declared(std::span<const device::DeclaredPolicy> all, std::string_view section,
                          const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const device::DeclaredPolicy& policy : all) {
    std::string parameters;
    for (const device::PolicyParameter& p : policy.parameters)
      parameters += fmt::format("{}{}.{}", parameters.empty() ? "" : ", ", section, p.name);
    rows.push_back({std::string(policy.name), std::string(policy.doc), parameters});
  }
  return list_table({"name", "meaning", "parameters"}, rows, format);
}

std::string list_memory_schedulers(const ListFormat& format) {
  return list_declared(device::memory_schedulers(), "schedule", format);
}
std::string list_page_policies(const ListFormat& format) {
  return list_declared(device::page_policies(), "page", format);
}

std::string list_corun_policies(const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const corun::Policy* policy : corun::policies())
    rows.push_back({std::string(policy->name), std::string(policy->doc)});
  return list_table({"name", "meaning"}, rows, format);
}

std::string list_prefetchers(const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const cache::PrefetchPolicy* one : cache::prefetch_policies())
    rows.push_back({std::string(one->name), std::string(one->doc)});
  return list_table({"name", "meaning"}, rows, format);
}

std::string list_probes(const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const probe::Kind* kind : probe::kinds())
    rows.push_back({std::string(kind->name), std::string(kind->doc), std::string(kind->needs)});
  return list_table({"name", "measures", "needs"}, rows, format);
}

std::string list_ptx(const ListFormat& format) {
  std::vector<std::vector<std::string>> rows;
  for (const ptx::CoverageEntry& e : ptx::coverage()) {
    const std::string form = format.markdown ? fmt::format("`{}`", e.form) : e.form;
    rows.push_back({form, e.supported ? "yes" : "no", e.types, e.note});
  }
  std::string out;
  if (format.markdown)
    out =
        "# PTX coverage\n\nGenerated from the decoder's table by `simtlab list ptx --markdown`; do not "
        "edit.\n\n"
        "Braces: may be left out. A module that uses a refused form is refused before anything runs, with "
        "every such line listed\n"
        "(exit code 4).\n\n";
  return out + list_table({"form", "runs", "types", "note"}, rows, format);
}

}  // namespace

void add_list(Command& app) {
  Command* list = app.add_subcommand(
      "list",
      "Print what this version knows: gpus, drams, controllers, plugins, ptx, stats, schedulers, "
      "replacements, set-indexes, memory-schedulers, page-policies, prefetchers, orders, "
      "policies, probes, options, exit-codes, errors, checks");
  list->require_subcommand(1, 1);
  const auto format = std::make_shared<ListFormat>();
  const auto add = [&](const char* name, const char* text, std::string (*make)(const ListFormat&)) {
    Command* sub = list->add_subcommand(name, text);
    sub->add_flag("--markdown", format->markdown, "As a Markdown table");
    sub->action([format, make](const Call&) {
      print(make(*format));
      return 0;
    });
  };
  add_list_gpus(*list);
  add("drams", "Memory technology files", list_drams);
  add("controllers", "Memory controller files", list_controllers);
  add("plugins", "Memory simulators of others: which are here, how to get, build and name each",
      list_plugins);
  add("ptx", "PTX instructions: what is executed, what is refused", list_ptx);
  add("stats", "Metrics, with unit and meaning", list_stats);
  add("schedulers", "Warp schedulers (--set sm.scheduler=NAME)", list_schedulers);
  add("replacements", "Which line of a full set leaves (--set l1.replacement=NAME, l2.replacement)",
      list_replacements);
  add("set-indexes", "Which set a line goes to (--set l1.set_index=NAME, l2.set_index)", list_set_indexes);
  add("memory-schedulers",
      "Which request of a memory channel goes first (--set schedule.kind=NAME of a controller)",
      list_memory_schedulers);
  add("page-policies", "When a row of a memory bank is closed (--set page.policy=NAME of a controller)",
      list_page_policies);
  add("prefetchers", "What L1 fetches ahead in cache studies (simtlab cache --prefetch NAME)",
      list_prefetchers);
  add("orders", "Who accesses next in cache studies (simtlab cache --order NAME)", list_orders);
  add("policies", "Co-run policies (simtlab corun --policy NAME)", list_corun_policies);
  add("probes", "What simtlab probe measures (--only NAME,...)", list_probes);
  add("options", "Every option of every command", list_options);
  add("exit-codes", "Exit codes", list_exit_codes);
  add("errors", "Errors: what each means and what to do", list_errors);
  add("checks", "What simtlab check finds: rules, and what each means", list_checks);
}

}  // namespace simtlab::cli
