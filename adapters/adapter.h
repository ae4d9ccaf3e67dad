// What the adapters share: a simulator behind a small C++ class, and the C interface of
// simtlab/memory_plugin.h over it.
//
// An adapter derives Simulator, and names a function that makes one: SIMTLAB_ADAPTER("DRAMsim3", make).
// Simulators have no hint about the next event, so simtlab runs every clock in which accesses are under way,
// as their own drivers do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "simtlab/memory_plugin.h"

namespace simtlab::adapter {

// The text after ?config=: "FILE" or "FILE,key=value,...". A key that nobody asks for is an error.
class Options {
 public:
  explicit Options(std::string_view text) {
    for (bool first = true; first || !text.empty(); first = false) {
      const std::size_t end = std::min(text.find(','), text.size());
      const std::string part(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      const std::size_t equals = part.find('=');
      if (first && equals == std::string::npos)
        file = part;
      else if (equals == std::string::npos)
        throw std::runtime_error("'" + part + "' is not of the form key=value");
      else
        values_[part.substr(0, equals)] = part.substr(equals + 1);
    }
  }
  // The first part, which must be a file that can be read: the libraries end the process over one that
  // cannot.
  const std::string& readable_file() const {
    if (file.empty()) throw std::runtime_error("a configuration file is needed: ?config=FILE");
    check_readable(file);
    return file;
  }
  static void check_readable(const std::string& path) {
    std::ifstream in(path);
    std::string line;
    if (!std::getline(in, line)) throw std::runtime_error("cannot read " + path);
  }
  std::string take(const std::string& key, const std::string& otherwise) {
    const auto found = values_.find(key);
    if (found == values_.end()) return otherwise;
    std::string value = found->second;
    values_.erase(found);
    return value;
  }
  double take_number(const std::string& key, double otherwise) {
    const std::string text = take(key, "");
    if (text.empty()) return otherwise;
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    if (used != text.size() || !(value >= 0)) throw std::runtime_error(key + "=" + text + " is no number");
    return value;
  }
  void done() const {
    if (!values_.empty()) throw std::runtime_error("unknown key '" + values_.begin()->first + "'");
  }
  std::string file;

 private:
  std::map<std::string, std::string> values_;
};

// The value of `key = value` in a configuration file of theirs; empty if it is not there. Comments begin with
// ; or #.
inline std::string value_in_file(const std::string& path, const std::string& key) {
  std::ifstream in(path);
  const auto trim = [](std::string text) {
    const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
  };
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.find_first_of(";#"), line.size()));
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos && trim(line.substr(0, equals)) == key)
      return trim(line.substr(equals + 1));
  }
  return {};
}

class Simulator {
 public:
  virtual ~Simulator() = default;
  virtual bool accepts(std::uint64_t address, bool write) = 0;
  virtual void add(std::uint64_t address, bool write, std::uint32_t source, std::uint64_t id) = 0;
  virtual void tick() = 0;  // one clock; calls answer()

  simtlab_memory_info info{};  // filled by the constructor

 protected:
  void answer(std::uint64_t id) { done_(context_, id, now_); }

 private:
  friend struct Glue;
  simtlab_memory_done done_ = nullptr;
  void* context_ = nullptr;
  std::uint64_t now_ = 0, reads_ = 0, writes_ = 0;
  std::string error_;
};

// Requests of simulators that answer with an address: of several with one address the oldest is answered
// first.
class ByAddress {
 public:
  void add(std::uint64_t address, std::uint64_t id) { ids_.emplace(address, id); }
  std::uint64_t take(std::uint64_t address) {
    const auto found = ids_.lower_bound(address);
    if (found == ids_.end() || found->first != address)
      throw std::runtime_error("an answer for an address that was not asked for");
    const std::uint64_t id = found->second;
    ids_.erase(found);
    return id;
  }

 private:
  std::multimap<std::uint64_t, std::uint64_t> ids_;  // equal keys keep the order of their insertion
};

// The functions of the C interface; no exception leaves them.
struct Glue {
  template <class Call>
  static int guarded(Simulator& s, Call&& call) {
    try {
      call();
      return 0;
    } catch (const std::exception& e) { s.error_ = e.what(); } catch (...) {
      s.error_ = "an exception of unknown kind";
    }
    return 1;
  }
  static Simulator& of(simtlab_memory* m) { return *reinterpret_cast<Simulator*>(m); }
  static const Simulator& of(const simtlab_memory* m) { return *reinterpret_cast<const Simulator*>(m); }

  using Make = std::unique_ptr<Simulator> (*)(Options& options);
  static simtlab_memory* create(Make make, const char* config, char* error, std::size_t bytes) {
    try {
      Options options(config);
      std::unique_ptr<Simulator> simulator = make(options);
      options.done();
      return reinterpret_cast<simtlab_memory*>(simulator.release());
    } catch (const std::exception& e) { std::snprintf(error, bytes, "%s", e.what()); } catch (...) {
      std::snprintf(error, bytes, "the library threw an exception of unknown kind");
    }
    return nullptr;
  }
  static void destroy(simtlab_memory* m) { delete &of(m); }
  static int info(const simtlab_memory* m, simtlab_memory_info* out) {
    *out = of(m).info;
    return 0;
  }
  static int will_accept(simtlab_memory* m, std::uint64_t address, int write) {
    int yes = 0;
    guarded(of(m), [&] { yes = of(m).accepts(address, write != 0); });
    return yes;
  }
  static int add(simtlab_memory* m, std::uint64_t address, int write, std::uint32_t source,
                 std::uint64_t id) {
    Simulator& s = of(m);
    ++(write != 0 ? s.writes_ : s.reads_);
    return guarded(s, [&] { s.add(address, write != 0, source, id); });
  }
  static int advance(simtlab_memory* m, std::uint64_t cycle, simtlab_memory_done done, void* context) {
    Simulator& s = of(m);
    s.done_ = done;
    s.context_ = context;
    return guarded(s, [&] {
      for (; s.now_ < cycle; ++s.now_) s.tick();
    });
  }
  static std::uint32_t statistics(simtlab_memory* m, simtlab_memory_statistic* out, std::uint32_t room) {
    const Simulator& s = of(m);
    const simtlab_memory_statistic all[] = {
        {"reads", "1", static_cast<double>(s.reads_), SIMTLAB_MEMORY_SUM},
        {"writes", "1", static_cast<double>(s.writes_), SIMTLAB_MEMORY_SUM},
        {"clocks", "cycles", static_cast<double>(s.now_), SIMTLAB_MEMORY_MAX}};
    for (std::uint32_t i = 0; i < 3 && i < room; ++i) out[i] = all[i];
    return 3;
  }
  static const char* last_error(const simtlab_memory* m) { return of(m).error_.c_str(); }
};

}  // namespace simtlab::adapter

#define SIMTLAB_ADAPTER(title, make)                                                            \
  static simtlab_memory* create_(const char* config, std::uint32_t, std::uint32_t, char* error, \
                                 std::size_t bytes) {                                           \
    return simtlab::adapter::Glue::create(make, config, error, bytes);                          \
  }                                                                                             \
  static const simtlab_memory_plugin plugin_ = {sizeof plugin_,                                 \
                                                title,                                          \
                                                create_,                                        \
                                                simtlab::adapter::Glue::destroy,                \
                                                simtlab::adapter::Glue::info,                   \
                                                simtlab::adapter::Glue::will_accept,            \
                                                simtlab::adapter::Glue::add,                    \
                                                simtlab::adapter::Glue::advance,                \
                                                nullptr,                                        \
                                                simtlab::adapter::Glue::statistics,             \
                                                simtlab::adapter::Glue::last_error,             \
                                                nullptr};                                       \
  extern "C" const std::uint32_t simtlab_memory_abi = SIMTLAB_MEMORY_ABI;                       \
  extern "C" const simtlab_memory_plugin* simtlab_memory_get_plugin() { return &plugin_; }
