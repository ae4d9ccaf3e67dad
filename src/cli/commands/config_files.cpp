#include "cli/commands/config_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "cli/commands/commands.h"
#include "device/catalogue.h"
#include "result/json.h"
#include "studies/common/command.h"
#include "studies/common/options.h"
#include "studies/common/output.h"

namespace simtlab::cli {
namespace {

struct Value {
  std::string key, value;
};

// Of a device, or of the run that a result file tells of.
struct Side {
  std::string name;
  std::vector<Value> values;
};

Side side(const std::string& what) {
  Side out{what, {}};
  if (what.ends_with(".json") || what == "-") {
    const std::string file = what == "-" ? "/dev/stdin" : what;
    const result::Result result = result::read_result_file(file);
    for (const result::ConfigValue& c : result.manifest.configuration) out.values.push_back({c.key, c.value});
    return out;
  }
  for (const device::Entry& e : device::load_device(what).entries) out.values.push_back({e.key, e.value});
  return out;
}

const std::string* find(const Side& s, const std::string& key) {
  const auto found = std::ranges::find(s.values, key, &Value::key);
  return found == s.values.end() ? nullptr : &found->value;
}

struct Difference {
  std::string key;
  const std::string *before, *after;  // null: that side has none
};

std::vector<Difference> differences(const Side& a, const Side& b) {
  std::vector<Difference> out;
  std::set<std::string> seen;
  for (const Value& v : a.values) {
    seen.insert(v.key);
    const std::string* other = find(b, v.key);
    if (other == nullptr || *other != v.value) out.push_back({v.key, &v.value, other});
  }
  for (const Value& v : b.values)
    if (!seen.contains(v.key)) out.push_back({v.key, nullptr, &v.value});
  return out;
}

std::string as_text(const Side& a, const Side& b, const std::vector<Difference>& all) {
  if (all.empty())
    return fmt::format("{} and {} are the same: {} values\n", shown(a.name), shown(b.name), a.values.size());
  std::size_t keys = 3, values = a.name.size();
  for (const Difference& d : all) {
    keys = std::max(keys, d.key.size());
    values = std::max(values, d.before == nullptr ? 1 : d.before->size());
  }
  values = std::min<std::size_t>(values, 40);
  std::string out = fmt::format("{:<{}}  {:<{}}  {}\n", "key", keys, shown(a.name), values, shown(b.name));
  for (const Difference& d : all)
    out += fmt::format("{:<{}}  {:<{}}  {}\n", shown(d.key, 60), keys,
                       d.before == nullptr ? "-" : shown(*d.before, 80), values,
                       d.after == nullptr ? "-" : shown(*d.after, 80));
  return out;
}

std::string as_json(const Side& a, const Side& b, const std::vector<Difference>& all) {
  const auto value = [](const std::string* text) {
    return text == nullptr ? std::string("null") : result::json_string(*text);
  };
  std::string out =
      fmt::format("{{\n  \"schema\": {},\n  \"a\": {},\n  \"b\": {},\n  \"values\": [", result::json_schema,
                  result::json_string(a.name), result::json_string(b.name));
  for (std::size_t i = 0; i < all.size(); ++i)
    out += fmt::format("{}\n    {{\"key\": {}, \"a\": {}, \"b\": {}}}", i == 0 ? "" : ",",
                       result::json_string(all[i].key), value(all[i].before), value(all[i].after));
  return out + (all.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

struct DiffOptions {
  std::string a, b;
  OutputOptions output;
};

int diff(DiffOptions o) {
  check_outputs(o.output);
  std::vector<std::filesystem::path> read;
  for (const std::string& name : {o.a, o.b})
    if (name.find('/') != std::string::npos || name.ends_with(".toml") || name.ends_with(".json"))
      read.emplace_back(name);
  check_inputs(o.output, read);
  const Side a = side(o.a), b = side(o.b);
  const std::vector<Difference> all = differences(a, b);
  if (o.output.json.empty())
    print(as_text(a, b, all));
  else
    write_to(o.output.json, as_json(a, b, all));
  return 0;
}

// A file to begin with: every option with its meaning and its value, commented out, and how a value of the
// device is changed.
std::string starter(const options::Configuration& c) {
  std::string out =
      "# Configuration of simtlab for this folder and those below it (docs/reference/configuration.md).\n"
      "# `simtlab config show --origin` prints every effective value and where it comes from.\n\n";
  for (const device::Entry& e : c.option_entries) {
    const bool chosen = e.key == "gpu";
    const bool number = !e.value.empty() && e.value.find_first_not_of("0123456789.") == std::string::npos;
    out += fmt::format("# {}\n{}{} = {}\n\n", e.doc, chosen ? "" : "#", e.key,
                       number ? e.value : fmt::format("\"{}\"", e.value));
  }
  return out +
         "# Values of the device, in place of those of its file (`simtlab config show` lists all):\n"
         "#sm.count = 27\n"
         "#l2.latency = \"250 cycles\"\n";
}

struct InitOptions {
  std::string file = "simtlab.toml";
  std::optional<std::string> gpu;
};

int init(const InitOptions& o) {
  std::error_code ignored;
  if (o.file != "-" && std::filesystem::exists(o.file, ignored))
    throw Error(ExitCode::usage, "config-exists", fmt::format("{} is there already", shown(o.file)),
                "nothing was changed; name another file, or - for stdout");
  // The defaults of the tool, not what other layers made of them: those stay layers.
  const options::Surroundings nowhere{"/", [](const char*) { return std::nullopt; }};
  RunOptions given;
  if (o.gpu) given.set("gpu", *o.gpu);
  const options::Configuration defaults = options::gather(nowhere, given);
  device::load_device(defaults.options.gpu);  // says what is wrong with it
  write_to(o.file, starter(defaults));
  if (o.file != "-") print(fmt::format("wrote {}: gpu {}\n", shown(o.file), shown(defaults.options.gpu)));
  return 0;
}

}  // namespace

void add_config_files(Command& config) {
  Command* compare = config.add_subcommand(
      "diff", "The values in which two devices, or the configurations of two result files, differ");
  const auto d = std::make_shared<DiffOptions>();
  compare->add_option("A", d->a, "A GPU of `simtlab list gpus`, a device file, or a result (*.json)")
      ->required()
      ->check(not_empty());
  compare->add_option("B", d->b, "Another one")->required()->check(not_empty());
  compare->add_option("--json", d->output.json, "As JSON to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]");
  compare->action([d](const Call&) { return diff(*d); });
  Command* begin =
      config.add_subcommand("init", "Write a configuration file to begin with: every option, commented out");
  const auto i = std::make_shared<InitOptions>();
  begin->add_option("FILE", i->file, "Where to (default simtlab.toml; - is stdout)")->check(output_file());
  begin->add_option("--gpu", i->gpu, "The GPU that it chooses (default h100)")
      ->check(not_empty())
      ->type_name("NAME|FILE");
  begin->action([i](const Call&) { return init(*i); });
}

}  // namespace simtlab::cli
