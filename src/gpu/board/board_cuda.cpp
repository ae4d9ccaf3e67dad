// The real board: a device of the CUDA driver behind the interface.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include "base/error.h"
#include "gpu/board/board.h"
#include "gpu/board/cuda_devices.h"
#include "gpu/board/cuda_driver.h"
#include "gpu/board/cuda_module.h"

namespace simtlab::gpu {
namespace {

using namespace board;
using Clock = std::chrono::steady_clock;

// Whoever waits longer than this need not know the end to a microsecond.
constexpr auto spin_time = std::chrono::milliseconds(5);
constexpr auto nap = std::chrono::microseconds(50);

// In place of the driver's own cleaning up at the end of the process, which might wait for a kernel that
// never ends.
void end_without_driver(int status, void*) {
  std::fflush(nullptr);
  ::_exit(status);
}

class Cuda final : public Board {
 public:
  Cuda(const Driver& driver, const BoardName& name, const CudaOptions& options)
      : driver_(driver),
        facts_(facts_of(driver, name)),
        device_(handle_of(driver, name.index)),
        interrupt_(options.interrupt) {
    Context context = nullptr;
    const std::string doing = fmt::format("starting to use device {} ({})", name.index, name.name);
    check_context(driver_.context_retain(&context, device_), doing);
    const Result result = driver_.context_set(context);
    std::size_t free = 0, total = 0;
    if (result == success && driver_.memory_info(&free, &total) == success) facts_.free_bytes = free;
    if (result != success) release_context();
    check(driver_, result, doing);
  }
  ~Cuda() override {
    if (given_up()) {
      ::on_exit(end_without_driver, nullptr);
      return;
    }
    for (const auto& [batch, exec] : batches_) driver_.graph_exec_destroy(exec);
    for (const auto& [id, event] : events_) driver_.event_destroy(event);
    for (const EventHandle event : spare_events_) driver_.event_destroy(event);
    for (const auto& [id, stream] : streams_) driver_.stream_destroy(stream);
    for (const auto& [id, module] : modules_) driver_.module_unload(module);
    for (const DevicePointer address : memory_) driver_.release(address);
    for (const auto& [memory, pinned] : host_memory_) free_host(memory, pinned);
    release_context();
  }

  const BoardFacts& facts() const override { return facts_; }

  std::uint64_t allocate(std::uint64_t bytes) override {
    DevicePointer address = 0;
    ask(driver_.allocate(&address, std::max<std::uint64_t>(bytes, 1)),
        "allocating {} bytes of the device's memory", bytes);
    memory_.insert(address);
    return address;
  }
  void release(std::uint64_t address) override {
    if (given_up()) return;
    if (memory_.erase(address) != 0) ask(driver_.release(address), "releasing memory of the device");
  }
  void* allocate_host(std::uint64_t bytes, bool pinned) override {
    bytes = std::max<std::uint64_t>(bytes, 1);
    void* memory = nullptr;
    if (pinned)
      ask(driver_.allocate_host(&memory, bytes, 0), "locking {} bytes of the host's memory", bytes);
    else
      memory = std::malloc(bytes);
    if (memory == nullptr)
      throw Error(ExitCode::failure, "board-memory", fmt::format("the host has no {} bytes left", bytes));
    host_memory_[memory] = pinned;
    return memory;
  }
  void release_host(void* memory) override {
    if (given_up()) return;
    if (const auto at = host_memory_.find(memory); at != host_memory_.end()) {
      free_host(memory, at->second);
      host_memory_.erase(at);
    }
  }
  void copy_in(std::uint64_t to, const void* from, std::uint64_t bytes,
               std::optional<Stream> stream) override {
    if (bytes == 0) return;
    if (!stream) settle();
    ask(stream ? driver_.copy_in_async(to, from, bytes, handle(*stream)) : driver_.copy_in(to, from, bytes),
        "copying {} bytes to the device", bytes);
    under_way_ |= stream.has_value();
  }
  void copy_out(void* to, std::uint64_t from, std::uint64_t bytes, std::optional<Stream> stream) override {
    if (bytes == 0) return;
    if (!stream) settle();
    ask(stream ? driver_.copy_out_async(to, from, bytes, handle(*stream)) : driver_.copy_out(to, from, bytes),
        "copying {} bytes from the device", bytes);
    under_way_ |= stream.has_value();
  }
  void copy_within(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                   std::optional<Stream> stream) override {
    if (bytes == 0) return;
    if (!stream) settle();
    ask(stream ? driver_.copy_within_async(to, from, bytes, handle(*stream))
               : driver_.copy_within(to, from, bytes),
        "copying {} bytes within the device", bytes);
    under_way_ |= stream.has_value();
    if (!stream) wait_for_stream(nullptr);  // the driver's copy does not
  }
  void fill(std::uint64_t to, std::byte value, std::uint64_t bytes) override {
    if (bytes == 0) return;
    settle();
    ask(driver_.fill(to, static_cast<unsigned char>(value), bytes), "filling {} bytes of the device's memory",
        bytes);
    wait_for_stream(nullptr);  // the driver's fill does not
  }

  Module load(const std::string& name, const std::string& ptx) override {
    modules_[next_id_] = load_ptx(driver_, name, ptx);
    return next_id_++;
  }
  void unload(Module module) override {
    if (given_up()) return;
    const auto at = modules_.find(module);
    if (at == modules_.end()) return;
    settle();
    ask(driver_.module_unload(at->second), "unloading a module");
    modules_.erase(at);
  }
  Function function(Module module, const std::string& name) override {
    FunctionHandle found = nullptr;
    const Result result = driver_.module_function(&found, modules_.at(module), name.c_str());
    if (result == not_found)
      throw Error(ExitCode::bad_input, "launch-kernel", fmt::format("the module has no kernel '{}'", name));
    ask(result, "looking for kernel '{}'", name);
    functions_.push_back(found);
    return static_cast<Function>(functions_.size() - 1);
  }
  // Two ways to say it: of Fermi and Kepler, and of Volta and later. Both are hints.
  void prefer_l1(Function function) override {
    ask(driver_.function_cache(functions_.at(function), cache_prefer_l1), "asking for a large L1");
    const Result result = driver_.function_set(functions_.at(function), function_carve_out, carve_out_max_l1);
    if (result != invalid_value && result != not_supported) ask(result, "asking for a large L1");
  }
  void allow_shared(Function function, std::uint32_t bytes) override {
    ask(driver_.function_set(functions_.at(function), function_max_dynamic_shared, static_cast<int>(bytes)),
        "allowing a kernel {} bytes of dynamic shared memory", bytes);
  }
  std::uint32_t blocks_per_sm(Function function, std::uint32_t threads, std::uint32_t shared_bytes) override {
    int blocks = 0;
    ask(driver_.occupancy(&blocks, functions_.at(function), static_cast<int>(threads), shared_bytes),
        "asking how many blocks fit an SM");
    return static_cast<std::uint32_t>(std::max(0, blocks));
  }
  std::uint32_t registers(Function function) override {
    int value = 0;
    ask(driver_.function_attribute(&value, function_registers, functions_.at(function)),
        "asking for a kernel's registers");
    return static_cast<std::uint32_t>(std::max(1, value));
  }

  void launch(const Launch& l) override {
    ArgumentList arguments(l.arguments.bytes());
    const Result result =
        driver_.launch(functions_.at(l.function), l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y,
                       l.block.z, l.shared_bytes, handle(l.stream), nullptr, arguments.extra());
    if (result == invalid_value)
      throw Error(ExitCode::bad_input, "launch-shape",
                  fmt::format("the device refuses a grid of ({},{},{}) blocks of ({},{},{}) threads with {} "
                              "bytes of dynamic shared memory",
                              l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z, l.shared_bytes));
    ask(result, "launching a kernel");
    under_way_ = true;
  }
  void synchronize() override {
    wait_for_stream(nullptr);
    for (const auto& [id, stream] : streams_) wait_for_stream(stream);
    under_way_ = false;
  }
  std::optional<Batch> make_batch(std::span<const Launch> launches) override {
    if (!driver_.has_graphs()) return std::nullopt;
    batches_[next_id_] = make_graph(launches);
    return next_id_++;
  }
  void launch_batch(Batch batch, Stream stream) override {
    ask(driver_.graph_launch(batches_.at(batch), handle(stream)), "launching a graph");
    under_way_ = true;
  }

  Stream create_stream() override {
    StreamHandle stream = nullptr;
    ask(driver_.stream_create(&stream, stream_non_blocking), "creating a stream");
    streams_[next_id_] = stream;
    return next_id_++;
  }
  void destroy_stream(Stream stream) override {
    if (given_up()) return;
    const auto at = streams_.find(stream);
    if (at == streams_.end()) return;
    wait_for_stream(at->second);  // destroyed, it could no longer be waited for
    ask(driver_.stream_destroy(at->second), "destroying a stream");
    streams_.erase(at);
  }
  Event record(Stream stream) override {
    const EventHandle event = spare_event();
    events_[next_id_] = event;
    ask(driver_.event_record(event, handle(stream)), "recording an event");
    under_way_ = true;
    return next_id_++;
  }
  double elapsed_ns(Event from, Event to) override {
    const EventHandle begin = events_.at(from), end = events_.at(to);
    for (const EventHandle event : {begin, end}) wait([&] { return driver_.event_query(event); });
    float ms = 0;
    ask(driver_.event_elapsed(&ms, begin, end), "reading the time between two events");
    for (const Event event : {from, to})
      if (const auto at = events_.find(event); at != events_.end()) {
        spare_events_.push_back(at->second);
        events_.erase(at);
      }
    return double{ms} * 1e6;
  }
  double host_now_ns() override {
    if (driver_.host_now_ns != nullptr) return driver_.host_now_ns();
    return std::chrono::duration<double, std::nano>(Clock::now().time_since_epoch()).count();
  }
  // Reading them takes a library of its own (CUPTI) and, mostly, an administrator's permission.
  result::Metrics counters() override { return {}; }

 private:
  template <class... T>
  void ask(Result result, fmt::format_string<T...> doing, T&&... values) {
    if (result != success) throw error_of(driver_, result, fmt::format(doing, std::forward<T>(values)...));
  }
  StreamHandle handle(Stream stream) const { return stream == 0 ? nullptr : streams_.at(stream); }

  // Polls, so that an interrupt is seen: the driver's own waiting can't be left.
  template <class Query>
  void wait(const Query& query) {
    const auto begin = Clock::now();
    for (Result result = query(); result != success; result = query()) {
      if (result != not_ready) throw error_of(driver_, result, "running a kernel");
      if (interrupt_ != nullptr && *interrupt_) {
        abandoned_ = true;
        throw Error(ExitCode::interrupted, "interrupted",
                    fmt::format("a kernel or a copy on {}", facts_.name));
      }
      if (Clock::now() - begin > spin_time) std::this_thread::sleep_for(nap);
    }
  }
  void wait_for_stream(StreamHandle stream) {
    wait([&] { return driver_.stream_query(stream); });
  }
  // Making one takes the driver longer than recording it, and would stand between a launch and its end.
  EventHandle spare_event() {
    EventHandle event = nullptr;
    if (spare_events_.empty()) {
      ask(driver_.event_create(&event, 0), "creating an event");
    } else {
      event = spare_events_.back();
      spare_events_.pop_back();
    }
    return event;
  }
  // An interrupt came while a kernel runs: nothing may be given back, the driver would wait for the kernel.
  bool given_up() {
    if (!abandoned_ && under_way_ && interrupt_ != nullptr && *interrupt_) abandoned_ = busy();
    return abandoned_;
  }
  // Older drivers have no code of its own for a device that another process has for itself.
  void check_context(Result result, const std::string& doing) {
    if (result == unknown && attribute(driver_, device_, compute_mode).value_or(mode_default) != mode_default)
      result = device_unavailable;
    check(driver_, result, doing);
  }
  bool busy() const {
    return driver_.stream_query(nullptr) == not_ready || std::ranges::any_of(streams_, [&](const auto& s) {
             return driver_.stream_query(s.second) == not_ready;
           });
  }
  // Before what the driver would wait in.
  void settle() {
    if (under_way_) synchronize();
  }
  void free_host(void* memory, bool pinned) {
    if (pinned)
      driver_.release_host(memory);
    else
      std::free(memory);
  }
  void release_context() {
    if (driver_.context_release_v2 != nullptr)
      driver_.context_release_v2(device_);
    else if (driver_.context_release != nullptr)
      driver_.context_release(device_);
  }
  // One after another, as in a stream.
  GraphExec make_graph(std::span<const Launch> launches) {
    Graph graph = nullptr;
    ask(driver_.graph_create(&graph, 0), "creating a graph");
    GraphExec exec = nullptr;
    Result result = success;
    GraphNode last = nullptr;
    for (const Launch& l : launches) {
      ArgumentList arguments(l.arguments.bytes());
      const KernelNode kernel{functions_.at(l.function),
                              l.grid.x,
                              l.grid.y,
                              l.grid.z,
                              l.block.x,
                              l.block.y,
                              l.block.z,
                              l.shared_bytes,
                              nullptr,
                              arguments.extra()};
      GraphNode node = nullptr;
      result = driver_.graph_add_kernel(&node, graph, last == nullptr ? nullptr : &last,
                                        last == nullptr ? 0 : 1, &kernel);
      if (result != success) break;
      last = node;
    }
    if (result == success)
      result = driver_.graph_instantiate != nullptr
                   ? driver_.graph_instantiate(&exec, graph, 0)
                   : driver_.graph_instantiate_v2(&exec, graph, nullptr, nullptr, 0);
    driver_.graph_destroy(graph);
    ask(result, "making a graph of {} launches", launches.size());
    return exec;
  }

  const Driver& driver_;
  BoardFacts facts_;
  DeviceHandle device_;
  const volatile bool* interrupt_;
  bool under_way_ = false;  // something may not have ended
  bool abandoned_ = false;
  std::uint32_t next_id_ = 1;
  std::map<Module, ModuleHandle> modules_;
  std::vector<FunctionHandle> functions_;
  std::map<Stream, StreamHandle> streams_;
  std::map<Event, EventHandle> events_;
  std::vector<EventHandle> spare_events_;
  std::map<Batch, GraphExec> batches_;
  std::set<DevicePointer> memory_;
  std::map<void*, bool> host_memory_;  // pinned
};

}  // namespace

std::vector<BoardName> list_cuda_boards() { return devices(driver()); }
BoardName find_cuda_board(std::string_view device) { return find_device(driver(), device); }

std::unique_ptr<Board> cuda_board(std::string_view device, const CudaOptions& options) {
  const Driver& d = driver();
  return std::make_unique<Cuda>(d, find_device(d, device), options);
}

}  // namespace simtlab::gpu
