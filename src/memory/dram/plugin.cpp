#include "memory/dram/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>

#include "base/error.h"
#include "base/shown.h"
#include "simtlab/memory_plugin.h"

namespace simtlab::memory::dram {
namespace {

constexpr const char* broken =
    "the plug-in breaks the interface of simtlab/memory_plugin.h: report it to its author "
    "(docs/guide/plugins.md)";

// What a plug-in's call throws must not pass for an error of ours.
template <class Call>
auto guarded(const char* function, const std::string& library, Call&& call) {
  try {
    return call();
  } catch (const Error&) {  // of our own callback
    throw;
  } catch (const std::exception& e) {
    throw Error(
        ExitCode::failure, "plugin-fault",
        fmt::format("plug-in {}: {} threw an exception: {}", shown(library), function, shown(e.what())),
        broken);
  } catch (...) {
    throw Error(ExitCode::failure, "plugin-fault",
                fmt::format("plug-in {}: {} threw an exception", shown(library), function), broken);
  }
}

}  // namespace

struct PluginChannels::Library {
  explicit Library(const std::string& path) {
    std::error_code ignored;
    if (path.find('/') != std::string::npos && !std::filesystem::exists(path, ignored))
      throw Error(ExitCode::bad_input, "plugin-missing", fmt::format("there is no plug-in {}", shown(path)),
                  "give the path of the shared library: --dram plugin:/path/library.so");
    handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const reason = ::dlerror();
      throw Error(ExitCode::bad_input, "plugin-missing",
                  fmt::format("the plug-in {} cannot be loaded: {}", shown(path),
                              shown(reason == nullptr ? "no reason given" : reason)),
                  "is it a shared library for this machine, and are the libraries that it needs found (ldd, "
                  "LD_LIBRARY_PATH)?");
    }
  }
  ~Library() { ::dlclose(handle); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  void* symbol(const char* name) const { return ::dlsym(handle, name); }
  void* entry(const std::string& path) const;
  void* handle = nullptr;
};

struct PluginChannels::Report {
  PluginChannels* channels;
  std::uint32_t channel;
  Cycle from, end;
  std::string problem;  // the first; told when the plug-in has returned, since its frames may not be unwound
};

// What a library of this version's interface exports; nothing of it is called yet.
void* PluginChannels::Library::entry(const std::string& path) const {
  const auto* abi = static_cast<const std::uint32_t*>(symbol("simtlab_memory_abi"));
  void* const found = symbol("simtlab_memory_get_plugin");
  if (abi == nullptr || found == nullptr)
    throw Error(
        ExitCode::bad_input, "plugin-symbol",
        fmt::format("{} is no memory plug-in: it has no symbol {}", shown(path),
                    abi == nullptr ? "simtlab_memory_abi" : "simtlab_memory_get_plugin"),
        "a plug-in exports what simtlab/memory_plugin.h declares, with C linkage and default visibility");
  if (*abi != SIMTLAB_MEMORY_ABI)
    throw Error(ExitCode::unsupported, "plugin-version",
                fmt::format("the plug-in {} has version {} of the interface, this simtlab has {}",
                            shown(path), *abi, SIMTLAB_MEMORY_ABI),
                "compile it with the simtlab/memory_plugin.h of this version");
  return found;
}

std::string problem_of_plugin(const std::string& library) {
  try {
    const PluginChannels::Library loaded(library);
    static_cast<void>(loaded.entry(library));
    return {};
  } catch (const Error& e) { return e.diagnostics().front().message; }
}

PluginChannels::PluginChannels(const PluginConfig& config)
    : config_(config), library_(std::make_unique<Library>(config.library)) {
  SIMTLAB_ASSERT(config.channels > 0, "memory has channels");
  const auto get = reinterpret_cast<const simtlab_memory_plugin* (*)()>(library_->entry(config.library));
  plugin_ = guarded("simtlab_memory_get_plugin", config.library, get);
  constexpr std::size_t least = offsetof(simtlab_memory_plugin, next_event);
  if (plugin_ == nullptr || plugin_->size < least || plugin_->create == nullptr ||
      plugin_->destroy == nullptr || plugin_->info == nullptr || plugin_->will_accept == nullptr ||
      plugin_->add == nullptr || plugin_->advance == nullptr)
    throw Error(ExitCode::failure, "plugin-fault",
                fmt::format("the plug-in {} lacks a function that it must have", shown(config.library)),
                broken);
  if (plugin_->size < sizeof(simtlab_memory_plugin))
    throw Error(ExitCode::unsupported, "plugin-version",
                fmt::format("the plug-in {} states a size of {} bytes for its table of functions, not {}",
                            shown(config.library), plugin_->size, sizeof(simtlab_memory_plugin)),
                "set size = sizeof(simtlab_memory_plugin)");
  channels_.resize(config.channels);
  try {
    for (std::uint32_t i = 0; i < config.channels; ++i) channels_[i].instance = create(i);
    read_info();
  } catch (...) {
    for (const Channel& channel : channels_)
      if (channel.instance != nullptr) plugin_->destroy(channel.instance);
    throw;
  }
}

PluginChannels::~PluginChannels() {
  for (const Channel& channel : channels_) {
    try {
      if (channel.instance != nullptr) plugin_->destroy(channel.instance);
    } catch (...) {  // nobody is left to tell
    }
  }
}

simtlab_memory* PluginChannels::create(std::uint32_t channel) const {
  std::array<char, 512> error{};
  simtlab_memory* const instance = guarded("create", config_.library, [&] {
    return plugin_->create(config_.config.c_str(), channel, config_.channels, error.data(), error.size());
  });
  if (instance != nullptr) return instance;
  error.back() = '\0';
  throw Error(
      ExitCode::bad_input, "plugin-create",
      fmt::format("the plug-in {} refuses to start with config '{}': {}", shown(config_.library),
                  shown(config_.config), error[0] == '\0' ? "it gives no reason" : shown(error.data(), 400)),
      "correct the text after ?config=; its meaning is the plug-in's");
}

void PluginChannels::read_info() {
  simtlab_memory_info info{};
  const int status =
      guarded("info", config_.library, [&] { return plugin_->info(channels_[0].instance, &info); });
  if (status != 0) fault(0, fmt::format("info failed: {}", last_error(0)));
  if (!std::isfinite(info.clock_period_ps) || info.clock_period_ps < 1 || info.clock_period_ps > 1e6)
    fault(0, fmt::format("its clock period of {} ps is not between 1 ps and 1 us", info.clock_period_ps));
  if (info.access_bytes == 0) fault(0, "it moves 0 bytes in an access");
  clock_period_ = info.clock_period_ps;
  access_bytes_ = info.access_bytes;
  channel_bytes_ = info.capacity_bytes;
  peak_bytes_per_second_ =
      std::isfinite(info.peak_bytes_per_second) ? std::max(0.0, info.peak_bytes_per_second) : 0;
}

std::string PluginChannels::name() const {
  return plugin_->name == nullptr ? config_.library : plugin_->name;
}

bool PluginChannels::accepts(std::uint32_t number, const Access& access) const {
  Channel& channel = channels_[number];
  const bool yes = guarded("will_accept", config_.library, [&] {
    return plugin_->will_accept(channel.instance, access.address, access.write ? 1 : 0) != 0;
  });
  if (!yes && !channel.refused) {
    channel.refused = true;
    schedule(number);
  }
  return yes;
}

void PluginChannels::add(std::uint32_t number, const Access& access, Cycle at) {
  Channel& channel = channels_[number];
  if (at > channel.time) {
    run(number, at);
    for (const Completion& completion : completions_) next_event_ = std::min(next_event_, completion.at);
  }
  std::uint32_t index;
  if (free_slots_.empty()) {
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    index = free_slots_.back();
    free_slots_.pop_back();
  }
  Slot& slot = slots_[index];
  slot = {access.tag, slot.uses + 1, number, true, access.write};
  const std::uint64_t id = std::uint64_t{slot.uses} << 32 | index;
  const int status = guarded("add", config_.library, [&] {
    return plugin_->add(channel.instance, access.address, access.write ? 1 : 0, access.source, id);
  });
  if (status != 0)
    fault(number, fmt::format("add failed after will_accept had said yes: {}", last_error(number)));
  ++channel.under_way;
  channel.progress = channel.time;
  channel.refused_since = never;
  schedule(number);
}

// When the channel has to be run next. A refusal is asked again after an event, at the latest in the next
// clock.
void PluginChannels::schedule(std::uint32_t number) const {
  Channel& channel = channels_[number];
  if (!channel.listed) {
    channel.listed = true;
    busy_.push_back(number);
  }
  channel.next = channel.time;
  if (plugin_->next_event != nullptr && channel.under_way > 0) {
    const Cycle hint =
        guarded("next_event", config_.library, [&] { return plugin_->next_event(channel.instance); });
    if (hint < channel.time)
      fault(number, fmt::format("next_event says {}, but it is clock {} already", hint, channel.time));
    if (hint == never)
      fault(number, fmt::format("next_event says that nothing will happen, with {} accesses under way",
                                channel.under_way));
    channel.next = hint;
  }
  next_event_ = std::min(next_event_, channel.next);
}

void PluginChannels::run(std::uint32_t number, Cycle end) {
  Channel& channel = channels_[number];
  Report report{this, number, channel.time, end, {}};
  const int status = guarded("advance", config_.library, [&] {
    return plugin_->advance(channel.instance, end, &PluginChannels::on_done, &report);
  });
  if (!report.problem.empty()) fault(number, report.problem);
  if (status != 0) fault(number, fmt::format("advance to clock {} failed: {}", end, last_error(number)));
  channel.time = end;
  if (channel.refused && channel.under_way == 0) channel.refused_since = std::min(channel.refused_since, end);
  channel.refused = false;
}

void PluginChannels::on_done(void* context, std::uint64_t id, std::uint64_t cycle) {
  auto* report = static_cast<Report*>(context);
  if (report->problem.empty())
    report->problem = report->channels->done(report->channel, id, cycle, report->from, report->end);
}

std::string PluginChannels::done(std::uint32_t number, std::uint64_t id, Cycle at, Cycle from, Cycle end) {
  const std::uint64_t index = id & 0xffffffff;
  if (index >= slots_.size() || slots_[index].uses != id >> 32)
    return fmt::format("it reports an access with id {:#x} as done, which it was never given", id);
  Slot& slot = slots_[index];
  if (!slot.open) return fmt::format("it reports the access with id {:#x} as done twice", id);
  if (slot.channel != number) return fmt::format("it reports an access of channel {} as done", slot.channel);
  if (at < from || at >= end)
    return fmt::format("it reports an access as done in clock {}, while it runs {} to {}", at, from, end - 1);
  slot.open = false;
  free_slots_.push_back(static_cast<std::uint32_t>(index));
  Channel& channel = channels_[number];
  --channel.under_way;
  channel.progress = at;
  completions_.push_back({at, slot.tag, number, slot.write});
  return {};
}

void PluginChannels::check_progress(std::uint32_t number) const {
  const Channel& channel = channels_[number];
  const Cycle since = channel.under_way > 0 ? channel.progress : channel.refused_since;
  if (since == never || channel.time - since < config_.stall_limit) return;
  throw Error(
      ExitCode::failure, "plugin-stalled",
      channel.under_way > 0
          ? fmt::format("the plug-in {} has not answered {} accesses of channel {} for {} clocks",
                        shown(config_.library), channel.under_way, number, channel.time - since)
          : fmt::format(
                "the plug-in {} has refused an access of channel {} for {} clocks with nothing under way",
                shown(config_.library), number, channel.time - since),
      "a memory answers and accepts in the end; raise --set dram.stall_limit if it is only slow "
      "(docs/guide/plugins.md)");
}

void PluginChannels::advance(Cycle end, std::vector<Completion>& done) {
  next_event_ = never;
  std::size_t kept = 0;
  // By index: running a channel never lists another.
  for (std::size_t i = 0; i < busy_.size(); ++i) {
    const std::uint32_t number = busy_[i];
    Channel& channel = channels_[number];
    if (channel.next < end) {
      run(number, end);
      check_progress(number);
      if (channel.under_way == 0) {
        channel.listed = false;
        continue;
      }
      schedule(number);
    } else {
      next_event_ = std::min(next_event_, channel.next);
    }
    busy_[kept++] = number;
  }
  busy_.resize(kept);
  std::sort(completions_.begin(), completions_.end(), [](const Completion& a, const Completion& b) {
    return a.at != b.at ? a.at < b.at : a.channel != b.channel ? a.channel < b.channel : a.tag < b.tag;
  });
  done.insert(done.end(), completions_.begin(), completions_.end());
  completions_.clear();
}

void PluginChannels::restart() {
  for (std::uint32_t i = 0; i < config_.channels; ++i) {
    Channel& channel = channels_[i];
    const bool used = channel.time != 0 || channel.progress != 0 || channel.under_way != 0 || channel.listed;
    simtlab_memory* instance = channel.instance;
    channel = {};
    channel.instance = instance;
    if (!used) continue;
    if (plugin_->reset != nullptr) {
      if (guarded("reset", config_.library, [&] { return plugin_->reset(instance); }) != 0)
        fault(i, fmt::format("reset failed: {}", last_error(i)));
      continue;
    }
    channel.instance = nullptr;
    guarded("destroy", config_.library, [&] { plugin_->destroy(instance); });
    channel.instance = create(i);
  }
  busy_.clear();
  completions_.clear();
  free_slots_.clear();
  slots_.clear();
  next_event_ = never;
}

std::vector<NamedStatistic> PluginChannels::statistics() const {
  std::vector<NamedStatistic> out;
  if (plugin_->statistics == nullptr) return out;
  std::vector<simtlab_memory_statistic> values(256);
  for (std::uint32_t c = 0; c < config_.channels; ++c) {
    const std::uint32_t n = guarded("statistics", config_.library, [&] {
      return plugin_->statistics(channels_[c].instance, values.data(),
                                 static_cast<std::uint32_t>(values.size()));
    });
    if (n > values.size()) fault(c, fmt::format("it has {} statistics; {} are taken", n, values.size()));
    if (c > 0 && n != out.size())
      fault(c, fmt::format("it has {} statistics, channel 0 has {}", n, out.size()));
    for (std::uint32_t i = 0; i < n; ++i) {
      const simtlab_memory_statistic& s = values[i];
      const auto plain = [](char x) {
        return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_' ||
               x == '.';
      };
      const std::string name = s.name == nullptr ? "" : s.name;
      if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), plain))
        fault(c, fmt::format("the name of its statistic {} is not 1 to 64 letters, digits, '_' and '.'", i));
      if (!std::isfinite(s.value)) fault(c, fmt::format("its statistic {} is not finite", name));
      if (c == 0) {
        out.push_back({name, s.unit == nullptr ? "1" : s.unit, s.value});
        continue;
      }
      if (out[i].name != name)
        fault(c, fmt::format("its statistic {} is {}, that of channel 0 {}", i, name, out[i].name));
      if (s.combine == SIMTLAB_MEMORY_MAX)
        out[i].value = std::max(out[i].value, s.value);
      else
        out[i].value += s.value;
    }
    if (c + 1 != config_.channels) continue;
    for (std::uint32_t i = 0; i < n; ++i)
      if (values[i].combine == SIMTLAB_MEMORY_MEAN) out[i].value /= config_.channels;
  }
  return out;
}

std::string PluginChannels::last_error(std::uint32_t channel) const {
  const char* const text =
      plugin_->last_error == nullptr ? nullptr : guarded("last_error", config_.library, [&] {
        return plugin_->last_error(channels_[channel].instance);
      });
  return text == nullptr ? "it gives no reason" : shown(text, 400);
}

void PluginChannels::fault(std::uint32_t channel, const std::string& what) const {
  throw Error(ExitCode::failure, "plugin-fault",
              fmt::format("plug-in {}, channel {}: {}", shown(config_.library), channel, what), broken);
}

}  // namespace simtlab::memory::dram
