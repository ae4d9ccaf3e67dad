// DRAMSim2 as a memory of simtlab: ?config=DEVICE.ini,system=SYSTEM.ini,megabytes=N[,peak=GB/s]
//
// The system file describes one channel (NUM_CHANS=1); each channel of the GPU is an instance of its own.
// DRAMSim2 keeps its configuration in global variables, so a process has one; its log files go where its
// system file says. It answers by address; equal addresses are answered in the order in which they came.
#include "../adapter.h"

#include "MultiChannelMemorySystem.h"
#include "SystemConfiguration.h"

extern int SHOW_SIM_OUTPUT;

namespace {

using namespace simtlab::adapter;

class Dramsim2 final : public Simulator {
 public:
  Dramsim2(const std::string& device, const std::string& system, unsigned megabytes, double peak)
      : memory_(device, system, "", "simtlab", megabytes),
        read_done_(this, &Dramsim2::read),
        write_done_(this, &Dramsim2::written) {
    memory_.RegisterCallbacks(&read_done_, &write_done_, nullptr);
    memory_.setCPUClockSpeed(0);  // update() is one clock of the memory
    info.clock_period_ps = static_cast<double>(tCK) * 1000;
    info.access_bytes = TRANSACTION_SIZE;
    info.capacity_bytes = std::uint64_t{megabytes} << 20;
    info.peak_bytes_per_second =
        peak > 0 ? peak * 1e9 : JEDEC_DATA_BUS_BITS / 8.0 * 2 / (static_cast<double>(tCK) * 1e-9);
  }
  bool accepts(std::uint64_t address, bool) override { return memory_.willAcceptTransaction(address); }
  void add(std::uint64_t address, bool write, std::uint32_t, std::uint64_t id) override {
    (write ? writes_ : reads_).add(address, id);
    if (!memory_.addTransaction(write, address))
      throw std::runtime_error("addTransaction refused what willAcceptTransaction accepted");
  }
  void tick() override { memory_.update(); }

 private:
  void read(unsigned, std::uint64_t address, std::uint64_t) { answer(reads_.take(address)); }
  void written(unsigned, std::uint64_t address, std::uint64_t) { answer(writes_.take(address)); }

  DRAMSim::MultiChannelMemorySystem memory_;
  DRAMSim::Callback<Dramsim2, void, unsigned, std::uint64_t, std::uint64_t> read_done_, write_done_;
  ByAddress reads_, writes_;
};

std::unique_ptr<Simulator> make(Options& options) {
  SHOW_SIM_OUTPUT = 0;
  const std::string device = options.readable_file(), system = options.take("system", "");
  if (system.empty())
    throw std::runtime_error("a system file is needed: ?config=DEVICE.ini,system=SYSTEM.ini,megabytes=N");
  Options::check_readable(system);
  if (value_in_file(system, "NUM_CHANS") != "1")
    throw std::runtime_error(system + " must have NUM_CHANS=1; --channels is for the GPU");
  const auto megabytes = static_cast<unsigned>(options.take_number("megabytes", 0));
  if (megabytes == 0 || (megabytes & (megabytes - 1)) != 0)
    throw std::runtime_error("megabytes= must be a power of two");
  return std::make_unique<Dramsim2>(device, system, megabytes, options.take_number("peak", 0));
}

}  // namespace

SIMTLAB_ADAPTER("DRAMSim2", make)
