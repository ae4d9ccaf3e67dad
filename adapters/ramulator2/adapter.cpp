// Ramulator 2.1 as a memory of simtlab: ?config=FILE.yaml[,peak=GB/s]
//
// The file is an exported configuration with the front end `External` and one channel; each channel of the
// GPU is an instance of its own. Ramulator answers a write when its command is issued. It tells whether it
// takes a request only by being given it, so the adapter holds one read and one write that were refused and
// offers them again every clock.
#include "../adapter.h"

#include <optional>

#include "ramulator/base/config.h"
#include "ramulator/base/factory.h"
#include "ramulator/base/request.h"
#include "ramulator/frontend/i_frontend.h"
#include "ramulator/memory_system/i_memory_system.h"

namespace {

using namespace simtlab::adapter;

class Ramulator2 final : public Simulator {
 public:
  explicit Ramulator2(Options& options) {
    Ramulator::ConfigNode config = Ramulator::Config::parse_config_file(options.readable_file());
    frontend_ = Ramulator::Factory::create_frontend(config);
    memory_ = Ramulator::Factory::create_memory_system(config);
    frontend_->connect_memory_system(memory_);
    memory_->connect_frontend(frontend_);
    info.clock_period_ps = memory_->get_tCK() * 1000;
    info.access_bytes = static_cast<std::uint32_t>(memory_->get_tx_bytes());
    info.peak_bytes_per_second = options.take_number("peak", 0) * 1e9;
  }
  bool accepts(std::uint64_t, bool write) override { return !held_[write]; }
  void add(std::uint64_t address, bool write, std::uint32_t source, std::uint64_t id) override {
    held_[write] = Held{address, id, source};
    offer(write);
  }
  void tick() override {
    offer(false);
    offer(true);
    memory_->tick();
  }

 private:
  struct Held {
    std::uint64_t address, id;
    std::uint32_t source;
  };
  void offer(bool write) {
    if (!held_[write]) return;
    const std::uint64_t id = held_[write]->id;
    if (frontend_->receive_external_requests(
            write ? 1 : 0, static_cast<Ramulator::Addr_t>(held_[write]->address), 0,
            [this, id](Ramulator::Request&) { finish(id); }, static_cast<int>(info.access_bytes)))
      held_[write].reset();
  }
  void finish(std::uint64_t id) { answer(id); }

  Ramulator::IFrontEnd* frontend_ = nullptr;  // owned by the library, which never frees them
  Ramulator::IMemorySystem* memory_ = nullptr;
  std::optional<Held> held_[2];
};

std::unique_ptr<Simulator> make(Options& options) { return std::make_unique<Ramulator2>(options); }

}  // namespace

SIMTLAB_ADAPTER("Ramulator 2", make)
