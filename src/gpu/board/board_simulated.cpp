// The simulated board: gpu::Gpu behind the interface of a driver.
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "base/error.h"
#include "device/bus.h"
#include "device/occupancy.h"
#include "gpu/board/board.h"
#include "gpu/gpu.h"

namespace simtlab::gpu {
namespace {

// What the driver of such a device would say. Its properties are in the device file; what has to be measured
// on hardware is left out.
BoardFacts facts_of(const device::Device& d) {
  BoardFacts f;
  f.simulated = true;
  f.name = d.product.empty() ? d.name : d.product;
  f.driver = "simulated";
  f.cc_major = d.cc_major, f.cc_minor = d.cc_minor;
  f.sms = d.sm.count;
  f.max_threads_per_sm = d.sm.max_threads, f.max_blocks_per_sm = d.sm.max_blocks,
  f.max_threads_per_block = d.sm.max_threads_per_block;
  f.registers_per_sm = d.sm.registers;
  f.shared_bytes_per_sm = d.sm.shared_bytes, f.shared_bytes_per_block = d.sm.shared_bytes_per_block;
  f.shared_bytes_per_block_optin = d.sm.shared_bytes_per_block_optin,
  f.shared_reserved_per_block = d.sm.shared_reserved_per_block;
  f.memory_bytes = f.free_bytes = d.dram.bytes;
  f.l2_bytes = d.l2.bytes;
  f.sm_clock_hz = d.sm_clock_hz;
  if (d.memory_clock_hz > 0) {
    f.memory_clock_hz = d.memory_clock_hz;
    f.bus_bits = device::bus_bits(d);
  }
  f.l1_caches_global = d.l1_caches_global;
  f.copy_engines = 2;
  f.concurrent_kernels = d.host.max_grids > 1;
  return f;
}

class Simulated final : public Board {
 public:
  Simulated(const device::Device& device, const SimulatedOptions& options)
      : facts_(facts_of(device)), gpu_(device, gpu_options(options)) {}
  ~Simulated() override {
    for (void* memory : host_memory_) std::free(memory);
  }

  const BoardFacts& facts() const override { return facts_; }

  std::uint64_t allocate(std::uint64_t bytes) override {
    const auto address = gpu_.allocate(std::max<std::uint64_t>(bytes, 1), "probe");
    if (!address)
      throw Error(ExitCode::failure, "board-memory",
                  fmt::format("{} bytes do not fit what is left of the device's memory", bytes),
                  "measure with less: --quick, or raise --max-memory");
    return *address;
  }
  void release(std::uint64_t address) override { gpu_.release(address); }
  void* allocate_host(std::uint64_t bytes, bool) override {
    void* memory = std::malloc(std::max<std::uint64_t>(bytes, 1));
    if (memory == nullptr)
      throw Error(ExitCode::failure, "board-memory", fmt::format("the host has no {} bytes left", bytes));
    host_memory_.push_back(memory);
    return memory;
  }
  void release_host(void* memory) override {
    if (std::erase(host_memory_, memory) != 0) std::free(memory);
  }
  void copy_in(std::uint64_t to, const void* from, std::uint64_t bytes,
               std::optional<Stream> stream) override {
    copied(gpu_.copy(reinterpret_cast<void*>(to), from, bytes, Gpu::CopyKind::host_to_device,
                     stream.value_or(0), stream.has_value()));
  }
  void copy_out(void* to, std::uint64_t from, std::uint64_t bytes, std::optional<Stream> stream) override {
    copied(gpu_.copy(to, reinterpret_cast<const void*>(from), bytes, Gpu::CopyKind::device_to_host,
                     stream.value_or(0), stream.has_value()));
  }
  void copy_within(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                   std::optional<Stream> stream) override {
    copied(gpu_.copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes,
                     Gpu::CopyKind::device_to_device, stream.value_or(0), stream.has_value()));
  }
  void fill(std::uint64_t to, std::byte value, std::uint64_t bytes) override {
    copied(gpu_.fill(to, value, bytes, 0, false));
  }

  Module load(const std::string& name, const std::string& ptx) override {
    return gpu_.load_module(name, ptx);
  }
  void unload(Module module) override { gpu_.unload_module(module); }
  Function function(Module module, const std::string& name) override {
    const auto kernel = gpu_.find_kernel(module, name);
    SIMTLAB_ASSERT(kernel, "a kernel of the module");
    functions_.push_back(*kernel);
    return static_cast<Function>(functions_.size() - 1);
  }
  void prefer_l1(Function) override {}  // L1 is what the resident blocks' shared memory leaves
  void allow_shared(Function, std::uint32_t) override {}
  std::uint32_t blocks_per_sm(Function function, std::uint32_t threads, std::uint32_t shared_bytes) override {
    const std::uint64_t shared = shared_bytes + code(function).shared_bytes;
    return device::occupancy(gpu_.device(), threads, std::max(1u, code(function).registers), shared)
        .blocks_per_sm;
  }
  std::uint32_t registers(Function function) override { return std::max(1u, code(function).registers); }

  void launch(const Launch& launch) override { submit(launch, launch.stream, false); }
  void synchronize() override { gpu_.synchronize(); }
  std::optional<Batch> make_batch(std::span<const Launch> launches) override {
    batches_.emplace_back(launches.begin(), launches.end());
    return static_cast<Batch>(batches_.size() - 1);
  }
  // The first one pays for all.
  void launch_batch(Batch batch, Stream stream) override {
    bool paid = false;
    for (const Launch& launch : batches_[batch]) submit(launch, stream, std::exchange(paid, true));
  }

  Stream create_stream() override { return gpu_.create_stream(true); }
  void destroy_stream(Stream stream) override { gpu_.destroy_stream(stream); }
  Event record(Stream stream) override {
    const EventId event = gpu_.create_event();
    gpu_.record_event(event, stream);
    return event;
  }
  double elapsed_ns(Event from, Event to) override {
    const auto begin = gpu_.event_time_ns(from), end = gpu_.event_time_ns(to);
    gpu_.destroy_event(from);
    gpu_.destroy_event(to);
    SIMTLAB_ASSERT(begin && end, "recorded events have a time");
    return *end - *begin;
  }
  double host_now_ns() override { return gpu_.now_ns(); }
  result::Metrics counters() override { return counters_; }

 private:
  Options gpu_options(const SimulatedOptions& given) {
    Options o;
    o.ptx = Ptx::counts;  // what probes measure is what device files say of PTX's instructions
    o.threads = given.threads;
    o.interrupt = given.interrupt;
    o.max_memory_bytes = given.max_memory_bytes;
    o.on_kernel = [this](const result::KernelResult& kernel) { counters_ = kernel.metrics; };
    return o;
  }
  const ptx::Function& code(Function function) const {
    const Kernel& kernel = functions_[function];
    return gpu_.module(kernel.module).functions[kernel.function];
  }
  void submit(const Launch& launch, Stream stream, bool batched) {
    gpu_.launch(functions_[launch.function], launch.grid, launch.block, launch.shared_bytes,
                launch.arguments.bytes(), stream, batched);
  }
  static void copied(bool done) { SIMTLAB_ASSERT(done, "copies stay within allocations"); }

  BoardFacts facts_;
  result::Metrics counters_;
  Gpu gpu_;
  std::vector<Kernel> functions_;
  std::vector<std::vector<Launch>> batches_;
  std::vector<void*> host_memory_;
};

}  // namespace

std::unique_ptr<Board> simulated_board(const device::Device& device, const SimulatedOptions& options) {
  return std::make_unique<Simulated>(device, options);
}

}  // namespace simtlab::gpu
