// Ramulator 1 as a memory of simtlab: ?config=FILE.cfg[,peak=GB/s]
//
// The file has at least standard, org and speed; ranks where it has some. Each channel of the GPU is an
// instance of its own, with the channel's own burst as its access (no ganging of channels). Ramulator 1 never
// answers writes: a write is done in the clock after it was taken. It tells whether it takes a request only
// by being given it, so the adapter holds one read and one write that were refused and offers them again
// every clock. Its statistics are global variables of the process.
#ifndef RAMULATOR
#define RAMULATOR  // its headers are those of the stand-alone library, not of gem5
#endif
#include "../adapter.h"

#include <optional>
#include <vector>
// Headers that rely on their users' includes.
#include <algorithm>
#include <cassert>
#include <deque>
#include <functional>
#include <list>
#include <tuple>

#include "Config.h"
#include "Controller.h"
#include "DDR3.h"
#include "DDR4.h"
#include "GDDR5.h"
#include "HBM.h"
#include "LPDDR3.h"
#include "LPDDR4.h"
#include "Memory.h"
#include "PCM.h"
#include "STTMRAM.h"

namespace ramulator {
bool warmup_complete = false;  // the library expects its user to have it
}

namespace {

using namespace simtlab::adapter;

struct Built {
  std::unique_ptr<ramulator::MemoryBase> memory;
  std::uint32_t access_bytes = 0;
};

template <class Standard>
Built build(const ramulator::Config& config, int ranks) {
  auto* spec = new Standard(config["org"], config["speed"]);  // owned by the library, which never frees it
  spec->set_channel_number(1);
  spec->set_rank_number(ranks);
  auto* channel = new ramulator::DRAM<Standard>(spec, Standard::Level::Channel);
  channel->id = 0;
  channel->regStats("");
  std::vector<ramulator::Controller<Standard>*> controllers = {
      new ramulator::Controller<Standard>(config, channel)};
  return {std::make_unique<ramulator::Memory<Standard, ramulator::Controller>>(config, controllers),
          static_cast<std::uint32_t>(spec->prefetch_size * spec->channel_width / 8)};
}

Built build(const ramulator::Config& config, const std::string& standard, int ranks) {
  if (standard == "DDR3") return build<ramulator::DDR3>(config, ranks);
  if (standard == "DDR4") return build<ramulator::DDR4>(config, ranks);
  if (standard == "GDDR5") return build<ramulator::GDDR5>(config, ranks);
  if (standard == "HBM") return build<ramulator::HBM>(config, ranks);
  if (standard == "LPDDR3") return build<ramulator::LPDDR3>(config, ranks);
  if (standard == "LPDDR4") return build<ramulator::LPDDR4>(config, ranks);
  if (standard == "PCM") return build<ramulator::PCM>(config, ranks);
  if (standard == "STTMRAM") return build<ramulator::STTMRAM>(config, ranks);
  throw std::runtime_error("standard = " + standard +
                           " is not one of DDR3, DDR4, GDDR5, HBM, LPDDR3, LPDDR4, PCM, STTMRAM");
}

class Ramulator1 final : public Simulator {
 public:
  explicit Ramulator1(Options& options) {
    const std::string& file = options.readable_file();
    ramulator::Config config;
    for (const char* key : {"standard", "org", "speed"}) {
      const std::string value = value_in_file(file, key);
      if (value.empty()) throw std::runtime_error(file + " has no '" + key + " = '");
      config.add(key, value);
    }
    const std::string ranks = value_in_file(file, "ranks");
    config.add("mapping", "defaultmapping");
    config.set_core_num(1);
    Built built = build(config, config["standard"], ranks.empty() ? 1 : std::stoi(ranks));
    memory_ = std::move(built.memory);
    info.clock_period_ps = memory_->clk_ns() * 1000;
    info.access_bytes = built.access_bytes;
    info.peak_bytes_per_second = options.take_number("peak", 0) * 1e9;
  }
  bool accepts(std::uint64_t, bool write) override { return !held_[write]; }
  void add(std::uint64_t address, bool write, std::uint32_t, std::uint64_t id) override {
    held_[write] = Held{address, id};
    offer(write);
  }
  void tick() override {
    for (const std::uint64_t id : written_) answer(id);
    written_.clear();
    offer(false);
    offer(true);
    memory_->tick();
    Stats::curTick++;
  }

 private:
  struct Held {
    std::uint64_t address, id;
  };
  void offer(bool write) {
    if (!held_[write]) return;
    const std::uint64_t id = held_[write]->id;
    using ramulator::Request;
    if (!memory_->send(Request(
            static_cast<long>(held_[write]->address), write ? Request::Type::WRITE : Request::Type::READ,
            [this, id, write](Request&) {
              if (!write) finish(id);
            },
            0)))
      return;
    if (write) written_.push_back(id);
    held_[write].reset();
  }
  void finish(std::uint64_t id) { answer(id); }

  std::unique_ptr<ramulator::MemoryBase> memory_;
  std::optional<Held> held_[2];
  std::vector<std::uint64_t> written_;
};

std::unique_ptr<Simulator> make(Options& options) { return std::make_unique<Ramulator1>(options); }

}  // namespace

SIMTLAB_ADAPTER("Ramulator 1", make)
