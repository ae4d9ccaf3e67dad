// The layers of a described thing put together: files from the root of the inheritance to the named one, then
// settings. Every value keeps its origin and its place; what is wrong is collected and thrown in one go.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/catalogue.h"
#include "device/consistency.h"
#include "device/document.h"
#include "device/key.h"

namespace simtlab::device {

class Assembly {
 public:
  // Stores the default values. Both must live as long as the assembly.
  Assembly(Record& record, const Subject& subject);

  void add(const Document& document);
  void add(const Setting& setting);

  // The errors so far, and one for each value that no layer gives. `file` is named where a value is missing.
  void require_all(const std::string& file);
  // Throws if there are any.
  void refuse(const std::vector<Contradiction>& contradictions, const std::string& file);

  // The value of a key that exists; nullopt: absent.
  const std::optional<Origin>& origin(std::string_view key) const { return origins_[index_of(key)]; }
  bool is_overridden(std::string_view key) const;  // by a setting
  // Whether a layer nearer to the user set `key` than `other`.
  bool is_nearer(std::string_view key, std::string_view other) const {
    return places_[index_of(key)].layer > places_[index_of(other)].layer;
  }
  // Where it was set; without a file for a default value.
  const SourcePos& position(std::string_view key) const { return places_[index_of(key)].here.pos; }
  // `key` has been changed because `cause` was: it takes its origin.
  void follow(std::string_view key, std::string_view cause, std::string source);

  // Every value that is there.
  std::vector<Entry> entries();

 private:
  // Where a value was set, for errors about it that are found later.
  struct Place {
    unsigned layer = 0;  // 0: a default; the higher, the nearer to the user
    Diagnostic here;     // position and line, without a message
  };

  void set(const std::string& key, const std::string& value, Origin origin, const Diagnostic& here);
  std::size_t index_of(std::string_view key) const;
  void complain_about(const Contradiction& c, const std::string& file);
  void keep(std::string id, Diagnostic d);
  void fail_if_any();

  Record& record_;
  const Subject& subject_;
  std::vector<std::optional<Origin>> origins_;  // by index of the key
  std::vector<Place> places_;                   // the same
  unsigned layer_ = 0;
  std::string setting_layer_;
  std::string id_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace simtlab::device
