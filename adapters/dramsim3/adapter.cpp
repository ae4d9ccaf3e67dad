// DRAMsim3 as a memory of simtlab: ?config=FILE.ini[,output=FOLDER][,peak=GB/s]
//
// The file describes one channel (channels = 1); each channel of the GPU is an instance of its own. DRAMsim3
// answers by address; equal addresses are answered in the order in which they came. It acknowledges a write
// one clock after it took it.
#include "../adapter.h"

#include "dramsim3.h"

namespace {

using namespace simtlab::adapter;

class Dramsim3 final : public Simulator {
 public:
  explicit Dramsim3(Options& options)
      : memory_(dramsim3::GetMemorySystem(
            options.readable_file(), options.take("output", "/tmp"),
            [this](std::uint64_t a) { answer(reads_.take(a)); },
            [this](std::uint64_t a) { answer(writes_.take(a)); })) {
    info.clock_period_ps = memory_->GetTCK() * 1000;
    info.access_bytes = static_cast<std::uint32_t>(memory_->GetBusBits() / 8 * memory_->GetBurstLength());
    info.peak_bytes_per_second = options.take_number("peak", 0) * 1e9;
  }
  bool accepts(std::uint64_t address, bool write) override {
    return memory_->WillAcceptTransaction(address, write);
  }
  void add(std::uint64_t address, bool write, std::uint32_t, std::uint64_t id) override {
    (write ? writes_ : reads_).add(address, id);
    memory_->AddTransaction(address, write);
  }
  void tick() override { memory_->ClockTick(); }

 private:
  ByAddress reads_, writes_;
  // dramsim3.h declares the class without its members: only the library may make one.
  std::unique_ptr<dramsim3::MemorySystem> memory_;
};

std::unique_ptr<Simulator> make(Options& options) {
  const std::string channels = value_in_file(options.readable_file(), "channels");
  if (!channels.empty() && channels != "1")
    throw std::runtime_error(options.file + " has " + channels +
                             " channels: set channels = 1 there, and --channels for the GPU");
  if (value_in_file(options.file, "protocol").empty())
    throw std::runtime_error(options.file + " has no 'protocol = ': it is no DRAMsim3 file");
  return std::make_unique<Dramsim3>(options);
}

}  // namespace

SIMTLAB_ADAPTER("DRAMsim3", make)
