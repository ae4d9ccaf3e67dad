#include "device/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "device/consistency.h"
#include "device/document.h"
#include "device/parameters.h"

namespace simtlab::device {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_inheritance = 8;
constexpr std::size_t max_diagnostics = 20;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool looks_like_path(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".toml");
}

fs::path file_of(const std::string& name) {
  return data_directory() / "devices" / (name + ".toml");
}

// The catalogue file whose name or alias is `name`; empty if there is none.
fs::path find_in_catalogue(const std::string& name) {
  std::error_code ignored;
  const std::string wanted = lower(name);
  if (const fs::path path = file_of(wanted); fs::is_regular_file(path, ignored)) return path;
  for (const std::string& device : list_devices()) {
    const Document document = read_document(file_of(device), Form::annotated);
    if (std::find(document.aliases.begin(), document.aliases.end(), wanted) != document.aliases.end())
      return file_of(device);
  }
  return {};
}

[[noreturn]] void unknown_device(const std::string& name) {
  const std::vector<std::string> known = list_devices();
  const std::string near = nearest_name(lower(name.substr(0, 60)), known);
  std::string all;
  for (const std::string& device : known) all += fmt::format("{}{}", all.empty() ? "" : ", ", device);
  throw Error(ExitCode::bad_input, "device-unknown", fmt::format("unknown GPU '{}'", name.substr(0, 60)),
              near.empty() ? fmt::format("known: {}; or give the path of a .toml file", all)
                           : fmt::format("did you mean '{}'? known: {}", near, all));
}

// Documents from the named file to the root of what it inherits from.
std::vector<Document> read_chain(fs::path path) {
  std::vector<Document> chain;
  std::vector<fs::path> seen;
  for (;;) {
    std::error_code ignored;
    const fs::path real = fs::weakly_canonical(path, ignored);
    const bool cyclic = std::find(seen.begin(), seen.end(), real) != seen.end();
    if (cyclic || seen.size() >= max_inheritance) {
      const Document& last = chain.back();
      throw Error(ExitCode::bad_input, "device-inherits",
                  last.diagnostic(last.inherits_pos,
                                  cyclic ? fmt::format("'{}' inherits from itself", last.inherits)
                                         : fmt::format("more than {} levels of inheritance", max_inheritance),
                                  "let one of the files state its values itself"));
    }
    seen.push_back(real);
    chain.push_back(read_document(path, Form::annotated));
    const Document& document = chain.back();
    if (document.inherits.empty()) return chain;
    // Beside the file first: a pair of files can be carried about together.
    const std::string parent =
        document.inherits.ends_with(".toml") ? document.inherits : document.inherits + ".toml";
    const fs::path beside = path.parent_path() / parent;
    if (fs::is_regular_file(beside, ignored)) {
      path = beside;
    } else if (path = find_in_catalogue(document.inherits); path.empty()) {
      throw Error(
          ExitCode::bad_input, "device-inherits",
          document.diagnostic(document.inherits_pos, fmt::format("unknown device '{}'", document.inherits),
                              "name a device of 'simtlab list gpus' or a file beside this one"));
    }
  }
}

std::string unknown_key_hint(const std::string& key) {
  std::vector<std::string> keys;
  for (const Parameter& p : parameters()) keys.push_back(p.key);
  const std::string near = nearest_name(key.substr(0, 60), keys);
  return near.empty() ? "'simtlab config show' lists the keys" : fmt::format("did you mean '{}'?", near);
}

// Collects what is wrong with the values of all layers, then throws it in one go.
class Assembly {
 public:
  Assembly() : origins_(parameters().size()) {
    for (std::size_t i = 0; i < parameters().size(); ++i) {
      const Parameter& p = parameters()[i];
      if (p.default_value.empty()) continue;
      store(p, p.default_value, device_);
      origins_[i] = Origin{"default", "", "", false};
    }
  }

  void add(const Document& document) {
    for (const Node& node : document.nodes) {
      const std::string where = fmt::format("{}:{}", document.file, node.pos.line);
      const auto diagnostic = [&](std::string message, std::string hint) {
        return document.diagnostic(node.pos, std::move(message), std::move(hint));
      };
      set(node.key, node.value, Origin{"device", where, node.source, node.estimated}, diagnostic);
    }
    file_bandwidth_ = device_.dram.bandwidth;
  }

  void add(const Setting& setting) {
    const auto diagnostic = [&](std::string message, std::string hint) {
      Diagnostic d;
      d.message = fmt::format("{}: {}", setting.origin.where, message);
      d.hint = std::move(hint);
      return d;
    };
    set(setting.key, setting.value, setting.origin, diagnostic);
  }

  // `file` is the device file, named where a value is missing.
  LoadedDevice finish(const std::string& file, std::string name) {
    fail_if_any();
    for (std::size_t i = 0; i < parameters().size(); ++i)
      if (!origins_[i])
        complain("device-file", file, fmt::format("missing value '{}'", parameters()[i].key),
                 missing_hint(i));
    fail_if_any();
    scale_measured_bandwidth();
    for (const Contradiction& c : contradictions(device_)) complain_about(c, file);
    fail_if_any();

    device_.name = std::move(name);
    derive(device_);
    LoadedDevice out{device_, {}};
    for (std::size_t i = 0; i < parameters().size(); ++i) {
      const Parameter& p = parameters()[i];
      out.entries.push_back({p.key, show(p, device_), std::string(name_of(p.unit)), p.doc, *origins_[i]});
    }
    return out;
  }

 private:
  template <class MakeDiagnostic>
  void set(const std::string& key, const std::string& value, Origin origin,
           const MakeDiagnostic& diagnostic) {
    const Parameter* parameter = find_parameter(key);
    if (parameter == nullptr)
      return keep("config-unknown-key",
                  diagnostic(fmt::format("unknown key '{}'", key.substr(0, 60)), unknown_key_hint(key)));
    try {
      store(*parameter, value, device_);
      origins_[index_of(key)] = std::move(origin);
    } catch (const Error& e) {
      keep(e.id(), diagnostic(e.diagnostics().front().message, e.diagnostics().front().hint));
    }
  }

  static std::string missing_hint(std::size_t i) {
    const Parameter& p = parameters()[i];
    return fmt::format("{}; allowed: {}", p.doc, allowed_values(p));
  }

  std::size_t index_of(std::string_view key) const {
    const Parameter* parameter = find_parameter(key);
    SIMTLAB_ASSERT(parameter != nullptr, "the code names a parameter that does not exist");
    return static_cast<std::size_t>(parameter - parameters().data());
  }

  bool is_overridden(std::size_t i) const {
    return origins_[i] && origins_[i]->layer != "device" && origins_[i]->layer != "default";
  }

  // Of the parameters involved the one to point at is what the user changed, else the first.
  void complain_about(const Contradiction& c, const std::string& file) {
    std::size_t blamed = index_of(c.keys.front());
    for (auto key = c.keys.rbegin(); key != c.keys.rend(); ++key)
      if (is_overridden(index_of(*key))) blamed = index_of(*key);
    const Origin& origin = *origins_[blamed];
    const std::size_t first = index_of(c.keys.front());
    complain("device-value", origin.where.empty() ? file : origin.where,
             fmt::format("{} = {}: {}", c.keys.front(), show(parameters()[first], device_), c.message),
             c.hint);
  }

  // A measured bandwidth belongs to the peak of its file. Who changes the peak means the measured one, too.
  void scale_measured_bandwidth() {
    const std::size_t peak = index_of("dram.bandwidth"), measured = index_of("dram.bandwidth_measured");
    if (!is_overridden(peak) || is_overridden(measured) || file_bandwidth_ <= 0) return;
    device_.dram.bandwidth_measured *= device_.dram.bandwidth / file_bandwidth_;
    origins_[measured]->layer = origins_[peak]->layer;
    origins_[measured]->where = origins_[peak]->where;
    origins_[measured]->source = "in proportion to dram.bandwidth";
  }

  void complain(std::string id, const std::string& where, std::string message, std::string hint) {
    Diagnostic d;
    d.message = std::move(message);
    d.pos.file = where;  // already "file:line"
    d.hint = std::move(hint);
    keep(std::move(id), std::move(d));
  }

  // The first finding names the error.
  void keep(std::string id, Diagnostic d) {
    if (diagnostics_.empty()) id_ = std::move(id);
    if (diagnostics_.size() < max_diagnostics) diagnostics_.push_back(std::move(d));
  }

  void fail_if_any() {
    if (!diagnostics_.empty()) throw Error(ExitCode::bad_input, id_, std::move(diagnostics_));
  }

  Device device_;
  double file_bandwidth_ = 0;                   // dram.bandwidth of the device file
  std::vector<std::optional<Origin>> origins_;  // by index of the parameter
  std::string id_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace

std::vector<std::string> list_devices() {
  std::vector<std::string> names;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_directory() / "devices", code))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

LoadedDevice load_device(const std::string& name_or_file, const std::vector<Setting>& settings) {
  if (name_or_file.empty()) unknown_device(name_or_file);
  const fs::path path =
      looks_like_path(name_or_file) ? fs::path(name_or_file) : find_in_catalogue(name_or_file);
  if (path.empty()) unknown_device(name_or_file);
  const std::vector<Document> chain = read_chain(path);
  Assembly assembly;
  for (auto document = chain.rbegin(); document != chain.rend(); ++document) assembly.add(*document);
  for (const Setting& setting : settings) assembly.add(setting);
  return assembly.finish(path.string(), path.stem().string());
}

}  // namespace simtlab::device
