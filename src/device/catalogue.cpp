#include "device/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/shown.h"
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
  throw Error(ExitCode::bad_input, "device-unknown", fmt::format("unknown GPU '{}'", shown(name, 60)),
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
                                  cyclic ? fmt::format("'{}' inherits from itself", shown(last.inherits))
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
      throw Error(ExitCode::bad_input, "device-inherits",
                  document.diagnostic(document.inherits_pos,
                                      fmt::format("unknown device '{}'", shown(document.inherits)),
                                      "name a device of 'simtlab list gpus' or a file beside this one"));
    }
  }
}

// Collects what is wrong with the values of all layers, then throws it in one go.
class Assembly {
 public:
  Assembly() : origins_(parameters().size()), places_(parameters().size()) {
    for (std::size_t i = 0; i < parameters().size(); ++i) {
      const Parameter& p = parameters()[i];
      if (p.default_value.empty()) continue;
      store(p, p.default_value, device_);
      origins_[i] = Origin{"default", "", "", false};
    }
  }

  // Documents and settings come from the root of the inheritance to the command line.
  void add(const Document& document) {
    ++layer_;
    for (const Node& node : document.nodes) {
      const std::string where = fmt::format("{}:{}", document.file, node.pos.line);
      const Diagnostic here = document.diagnostic(node.pos, {});
      if (!node.is_empty_table) {
        set(node.key, node.value, Origin{"device", where, node.source, node.estimated}, here);
      } else if (const std::string wrong = wrong_with_empty_table(node.key); !wrong.empty()) {
        keep("config-unknown-key", complete(here, wrong, unknown_key_hint(node.key)));
      }
    }
    file_bandwidth_ = device_.dram.bandwidth;
  }

  void add(const Setting& setting) {
    if (setting.origin.layer != setting_layer_) ++layer_;
    setting_layer_ = setting.origin.layer;
    Diagnostic here;
    here.pos = setting.pos;
    here.text = setting.line;
    if (here.pos.file.empty()) here.pos.file = setting.origin.where;
    set(setting.key, setting.value, setting.origin, here);
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
  // Where a value was set, for what turns out to be wrong with it later.
  struct Place {
    unsigned layer = 0;  // 0: a default; the higher, the nearer to the user
    Diagnostic here;     // position and line, without a message
  };

  static Diagnostic complete(Diagnostic here, std::string message, std::string hint) {
    here.message = std::move(message);
    here.hint = std::move(hint);
    return here;
  }

  void set(const std::string& key, const std::string& value, Origin origin, const Diagnostic& here) {
    const Parameter* parameter = find_parameter(key);
    if (parameter == nullptr)
      return keep("config-unknown-key",
                  complete(here, fmt::format("unknown key '{}'", shown(key, 60)), unknown_key_hint(key)));
    try {
      store(*parameter, value, device_);
      origins_[index_of(key)] = std::move(origin);
      places_[index_of(key)] = {layer_, here};
    } catch (const Error& e) {
      keep(e.id(), complete(here, e.diagnostics().front().message, e.diagnostics().front().hint));
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

  // Of the parameters involved the one to point at is what the layer nearest to the user set, of several the
  // first.
  void complain_about(const Contradiction& c, const std::string& file) {
    std::size_t blamed = index_of(c.keys.front());
    const std::size_t first = blamed;
    for (const std::string& key : c.keys)
      if (places_[index_of(key)].layer > places_[blamed].layer) blamed = index_of(key);
    Diagnostic here = places_[blamed].here;
    if (here.pos.file.empty()) here.pos.file = file;
    keep("device-value",
         complete(std::move(here),
                  fmt::format("{} = {}: {}", c.keys.front(), show(parameters()[first], device_), c.message),
                  c.hint));
  }

  // A measured bandwidth belongs to the peak of its file. Who changes the peak means the measured one, too.
  void scale_measured_bandwidth() {
    const std::size_t peak = index_of("dram.bandwidth"), measured = index_of("dram.bandwidth_measured");
    if (!is_overridden(peak) || is_overridden(measured) || file_bandwidth_ <= 0) return;
    device_.dram.bandwidth_measured *= device_.dram.bandwidth / file_bandwidth_;
    origins_[measured]->layer = origins_[peak]->layer;
    origins_[measured]->where = origins_[peak]->where;
    origins_[measured]->source = "in proportion to dram.bandwidth";
    places_[measured] = places_[peak];
  }

  void complain(std::string id, const std::string& where, std::string message, std::string hint) {
    Diagnostic d;
    d.message = std::move(message);
    d.pos.file = where;
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
  std::vector<Place> places_;                   // the same
  unsigned layer_ = 0;
  std::string setting_layer_;
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
