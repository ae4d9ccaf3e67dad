#include "device/assembly.h"

#include <fmt/format.h>

#include <utility>

#include "base/shown.h"

namespace simtlab::device {
namespace {

constexpr std::size_t max_diagnostics = 20;

Diagnostic complete(Diagnostic here, std::string message, std::string hint) {
  here.message = std::move(message);
  here.hint = std::move(hint);
  return here;
}

}  // namespace

Assembly::Assembly(Record& record, const Subject& subject)
    : record_(record), subject_(subject), origins_(record.size()), places_(record.size()) {
  for (std::size_t i = 0; i < record.size(); ++i) {
    const Key& key = record.key(i);
    if (key.default_value.empty()) continue;
    store(key, key.default_value, record.field(i));
    origins_[i] = Origin{"default", "", "", false};
  }
}

void Assembly::add(const Document& document) {
  ++layer_;
  for (const Node& node : document.nodes) {
    const std::string where = fmt::format("{}:{}", document.file, node.pos.line);
    const Diagnostic here = document.diagnostic(node.pos, {});
    if (!node.is_empty_table) {
      set(node.key, node.value,
          Origin{std::string(subject_.layer), where, node.source, node.estimated, node.kind}, here);
    } else if (const std::string wrong = wrong_with_empty_table(record_, node.key); !wrong.empty()) {
      keep("config-unknown-key",
           complete(here, wrong, unknown_key_hint(record_, node.key, {}, subject_.show)));
    }
  }
}

void Assembly::add(const Setting& setting) {
  if (setting.origin.layer != setting_layer_) ++layer_;
  setting_layer_ = setting.origin.layer;
  Diagnostic here;
  here.pos = setting.pos;
  here.text = setting.line;
  if (here.pos.file.empty()) here.pos.file = setting.origin.where;
  set(setting.key, setting.value, setting.origin, here);
}

void Assembly::require_all(const std::string& file) {
  fail_if_any();
  for (std::size_t i = 0; i < record_.size(); ++i) {
    const Key& key = record_.key(i);
    if (origins_[i] || key.optional) continue;
    Diagnostic d;
    d.pos.file = file;
    keep("device-file",
         complete(std::move(d), fmt::format("missing value '{}'", key.key),
                  fmt::format("{}; allowed: {}", key.doc, allowed_values(key, record_.field(i)))));
  }
  fail_if_any();
}

void Assembly::refuse(const std::vector<Contradiction>& contradictions, const std::string& file) {
  for (const Contradiction& c : contradictions) complain_about(c, file);
  fail_if_any();
}

bool Assembly::is_overridden(std::string_view key) const {
  const std::optional<Origin>& o = origin(key);
  return o && o->layer != subject_.layer && o->layer != "default";
}

void Assembly::follow(std::string_view key, std::string_view cause, std::string source) {
  const std::size_t i = index_of(key), from = index_of(cause);
  origins_[i]->layer = origins_[from]->layer;
  origins_[i]->where = origins_[from]->where;
  origins_[i]->source = std::move(source);
  places_[i] = places_[from];
}

std::vector<Entry> Assembly::entries() {
  std::vector<Entry> out;
  for (std::size_t i = 0; i < record_.size(); ++i) {
    if (!origins_[i]) continue;
    const Key& key = record_.key(i);
    out.push_back(
        {key.key, show(key, record_.field(i)), std::string(name_of(key.unit)), key.doc, *origins_[i]});
  }
  return out;
}

void Assembly::set(const std::string& key, const std::string& value, Origin origin, const Diagnostic& here) {
  const std::optional<std::size_t> i = find_key(record_, key);
  if (!i)
    return keep("config-unknown-key", complete(here, fmt::format("unknown key '{}'", shown(key, 60)),
                                               unknown_key_hint(record_, key, {}, subject_.show)));
  try {
    store(record_.key(*i), value, record_.field(*i));
    origins_[*i] = std::move(origin);
    places_[*i] = {layer_, here};
  } catch (const Error& e) {
    keep(e.id(), complete(here, e.diagnostics().front().message, e.diagnostics().front().hint));
  }
}

std::size_t Assembly::index_of(std::string_view key) const {
  const std::optional<std::size_t> i = find_key(record_, key);
  SIMTLAB_ASSERT(i, "the code names a key that does not exist");
  return *i;
}

// Of the keys involved the one to point at is what the layer nearest to the user set, of several the first.
void Assembly::complain_about(const Contradiction& c, const std::string& file) {
  std::size_t blamed = index_of(c.keys.front());
  const std::size_t first = blamed;
  for (const std::string& key : c.keys)
    if (places_[index_of(key)].layer > places_[blamed].layer) blamed = index_of(key);
  Diagnostic here = places_[blamed].here;
  if (here.pos.file.empty()) here.pos.file = file;
  keep("device-value", complete(std::move(here),
                                fmt::format("{} = {}: {}", c.keys.front(),
                                            show(record_.key(first), record_.field(first)), c.message),
                                c.hint));
}

// The first finding names the error.
void Assembly::keep(std::string id, Diagnostic d) {
  if (diagnostics_.empty()) id_ = std::move(id);
  if (diagnostics_.size() < max_diagnostics) diagnostics_.push_back(std::move(d));
}

void Assembly::fail_if_any() {
  if (!diagnostics_.empty()) throw Error(ExitCode::bad_input, id_, std::move(diagnostics_));
}

}  // namespace simtlab::device
