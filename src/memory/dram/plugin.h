// Channels of an external simulator: a shared library with the C interface of
// include/simtlab/memory_plugin.h.
//
// Nothing that a plug-in does wrong may hang or crash the simulation as far as that can be seen from outside:
// every answer is checked, and a plug-in without progress is given up after `stall_limit` clocks. A library
// that never returns from a call, or that writes where it should not, is beyond help.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "memory/dram/channels.h"

struct simtlab_memory;
struct simtlab_memory_plugin;

namespace simtlab::memory::dram {

// Why the shared library is no plug-in that can be loaded here; empty: it is one.
std::string problem_of_plugin(const std::string& library);

struct PluginConfig {
  std::string library;  // path; a bare name is searched for as the system does
  std::string config;   // handed to it
  std::uint32_t channels = 1;
  Cycle stall_limit = 1'000'000;  // clocks with work and without progress
};

struct NamedStatistic {
  std::string name, unit;
  double value = 0;
};

class PluginChannels final : public Channels {
 public:
  // Throws Error: "plugin-missing", "plugin-symbol", "plugin-create" (bad input), "plugin-version"
  // (unsupported), "plugin-fault".
  explicit PluginChannels(const PluginConfig& config);
  ~PluginChannels() override;
  PluginChannels(const PluginChannels&) = delete;
  PluginChannels& operator=(const PluginChannels&) = delete;

  std::uint32_t count() const override { return config_.channels; }
  double clock_period() const override { return clock_period_; }
  std::uint32_t access_bytes() const override { return access_bytes_; }
  std::uint64_t channel_bytes() const override { return channel_bytes_; }
  bool accepts(std::uint32_t channel, const Access& access) const override;
  void add(std::uint32_t channel, const Access& access, Cycle at) override;
  Cycle next_event() const override { return next_event_; }
  // Throws Error(failure): "plugin-stalled", "plugin-fault".
  void advance(Cycle end, std::vector<Completion>& done) override;
  void restart() override;

  std::string name() const;
  double peak_bytes_per_second() const { return peak_bytes_per_second_; }  // of a channel; 0: unknown
  // Of all channels together, in the order of the plug-in.
  std::vector<NamedStatistic> statistics() const;

 private:
  friend std::string problem_of_plugin(const std::string& library);
  struct Library;
  struct Channel {
    simtlab_memory* instance = nullptr;
    Cycle time = 0;               // clocks before have been run
    Cycle progress = 0;           // when an access was last added or done
    Cycle refused_since = never;  // run since, with nothing under way and an access refused
    Cycle next = never;           // when it has to be run
    std::uint32_t under_way = 0;
    bool listed = false;   // in busy_
    bool refused = false;  // since its last run
  };
  // An access in the plug-in. The id that it gets is the slot and, above 32 bits, how often the slot was
  // used.
  struct Slot {
    std::uint64_t tag = 0;
    std::uint32_t uses = 0, channel = 0;
    bool open = false, write = false;
  };
  struct Report;  // what done() needs

  simtlab_memory* create(std::uint32_t channel) const;
  void read_info();
  void run(std::uint32_t channel, Cycle end);
  // What is wrong; empty if nothing
  std::string done(std::uint32_t channel, std::uint64_t id, Cycle at, Cycle from, Cycle end);
  void schedule(std::uint32_t channel) const;
  void check_progress(std::uint32_t channel) const;
  [[noreturn]] void fault(std::uint32_t channel, const std::string& what) const;
  std::string last_error(std::uint32_t channel) const;
  static void on_done(void* context, std::uint64_t id, std::uint64_t cycle);

  PluginConfig config_;
  std::unique_ptr<Library> library_;
  const simtlab_memory_plugin* plugin_ = nullptr;
  double clock_period_ = 0, peak_bytes_per_second_ = 0;
  std::uint64_t channel_bytes_ = 0;
  std::uint32_t access_bytes_ = 0;
  // accepts() is a question, but the plug-in has to be run for the answer to change.
  mutable std::vector<Channel> channels_;
  mutable std::vector<std::uint32_t> busy_;  // channels with accesses under way or refused
  mutable Cycle next_event_ = never;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Completion> completions_;  // not yet handed out
};

}  // namespace simtlab::memory::dram
