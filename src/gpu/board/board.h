// A GPU as something to measure: allocate, copy, load PTX, launch, time, query. Simulated
// (gpu/board_simulated.cpp) or real, through the CUDA driver (gpu/board_cuda.cpp). Whoever measures cannot
// tell which it is: every kernel is PTX, and times are those of the board's own clocks.
//
// Errors, of either kind: Error(unavailable "board-...") when there is no such device or it is lost or busy;
// Error(failure "board-memory") when it is out of memory; Error(program_failed, ...) for what a kernel did
// wrong; Error(interrupted) on an interrupt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "exec/executor.h"
#include "result/metrics.h"

namespace simtlab::gpu {

// What a driver tells of a device. Absent: it does not tell.
struct BoardFacts {
  bool simulated = false;
  std::string name;          // of the product
  std::string driver;        // "CUDA 13.0, driver 580.65"; "simulated"
  std::string uuid, bus_id;  // may be empty
  int cc_major = 0, cc_minor = 0;
  std::uint32_t sms = 0, warp_size = 32;
  std::uint32_t max_threads_per_sm = 0, max_blocks_per_sm = 0, max_threads_per_block = 0;
  std::uint32_t registers_per_sm = 0;
  std::uint64_t shared_bytes_per_sm = 0, shared_bytes_per_block = 0, shared_bytes_per_block_optin = 0,
                shared_reserved_per_block = 0;
  std::uint64_t constant_bytes = 65536;
  std::uint64_t memory_bytes = 0, free_bytes = 0;
  std::optional<std::uint64_t> l2_bytes;
  std::optional<double> sm_clock_hz, memory_clock_hz;  // the highest; what it runs at is measured
  std::optional<std::uint32_t> bus_bits;
  std::optional<bool> l1_caches_global, ecc;
  std::uint32_t copy_engines = 0;
  bool concurrent_kernels = true;
};

// Parameters of a launch, laid out as the kernel's .param list.
class Arguments {
 public:
  template <class... T>
  explicit Arguments(T... values) {
    (add(values), ...);
  }
  // 4 or 8 bytes, aligned as they are large.
  template <class T>
  void add(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    put(&value, sizeof value);
  }
  // Laid out already.
  static Arguments of_bytes(std::span<const std::byte> bytes) {
    Arguments out;
    out.bytes_.assign(bytes.begin(), bytes.end());
    return out;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void put(const void* value, std::size_t size);
  std::vector<std::byte> bytes_;
};

class Board {
 public:
  using Module = std::uint32_t;
  using Function = std::uint32_t;
  using Stream = std::uint32_t;  // 0: the default stream
  using Event = std::uint32_t;
  using Batch = std::uint32_t;

  struct Launch {
    Function function = 0;
    exec::Dim3 grid{}, block{};
    std::uint32_t shared_bytes = 0;  // dynamic
    Arguments arguments{};
    Stream stream = 0;
  };

  virtual ~Board() = default;
  virtual const BoardFacts& facts() const = 0;

  // Memory of the device. Never fewer bytes than asked for; aligned to 256. Released with the board at the
  // latest.
  virtual std::uint64_t allocate(std::uint64_t bytes) = 0;
  virtual void release(std::uint64_t address) = 0;
  // Memory of the host; pinned: locked in place, as fast copies need it.
  virtual void* allocate_host(std::uint64_t bytes, bool pinned) = 0;
  virtual void release_host(void* memory) = 0;
  // Copies and fills wait until they have ended, unless `stream` is given.
  virtual void copy_in(std::uint64_t to, const void* from, std::uint64_t bytes,
                       std::optional<Stream> stream = {}) = 0;
  virtual void copy_out(void* to, std::uint64_t from, std::uint64_t bytes,
                        std::optional<Stream> stream = {}) = 0;
  // From device memory to device memory.
  virtual void copy_within(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                           std::optional<Stream> stream = {}) = 0;
  virtual void fill(std::uint64_t to, std::byte value, std::uint64_t bytes) = 0;

  virtual Module load(const std::string& name, const std::string& ptx) = 0;
  virtual void unload(Module module) = 0;  // its functions are gone, too
  virtual Function function(Module module, const std::string& name) = 0;
  // As much L1 as there can be beside the shared memory that the function uses; without effect where the
  // division is fixed.
  virtual void prefer_l1(Function function) = 0;
  // Lets the function be launched with more dynamic shared memory than every function may have.
  virtual void allow_shared(Function function, std::uint32_t bytes) = 0;
  virtual std::uint32_t blocks_per_sm(Function function, std::uint32_t threads,
                                      std::uint32_t shared_bytes) = 0;
  virtual std::uint32_t registers(Function function) = 0;  // of a thread

  virtual void launch(const Launch& launch) = 0;  // returns when it has been queued
  virtual void synchronize() = 0;
  // Several launches handed over at once (a graph). nullopt: the driver has no such thing.
  virtual std::optional<Batch> make_batch(std::span<const Launch> launches) = 0;
  virtual void launch_batch(Batch batch, Stream stream) = 0;

  virtual Stream create_stream() = 0;  // does not wait for the default stream
  virtual void destroy_stream(Stream stream) = 0;
  virtual Event record(Stream stream) = 0;
  virtual double elapsed_ns(Event from, Event to) = 0;  // waits for both, and forgets them
  // Of a clock that never goes back; simulated time of the host on a simulated board
  virtual double host_now_ns() = 0;

  // What the hardware's counters say of the last launch, names of the metric registry. Empty where there are
  // none.
  virtual result::Metrics counters() = 0;
};

struct SimulatedOptions {
  unsigned threads = 1;
  const volatile bool* interrupt = nullptr;
  std::uint64_t max_memory_bytes = 0;
};
std::unique_ptr<Board> simulated_board(const device::Device& device, const SimulatedOptions& options = {});

// A device that the CUDA driver lists; docs/guide/boards.md. Absent: it does not tell.
struct BoardName {
  std::size_t index = 0;
  std::string name, uuid, bus_id;
};
// Never empty: throws Error(unavailable) "board-driver", "board-driver-old", "board-none".
std::vector<BoardName> list_cuda_boards();
// device: an index of the list, a UUID, or the beginning of one. Throws as above.
BoardName find_cuda_board(std::string_view device);

struct CudaOptions {
  const volatile bool* interrupt = nullptr;  // looked at while the host waits for the device
};
// device: as of find_cuda_board. Throws as that, and Error(unavailable) "board-busy", "board-permission".
//
// A kernel can't be called back. Once an interrupt has ended the waiting for one, the board is given up as it
// is, and the process ends without the driver's own cleaning up, which might wait for the kernel; the system
// then takes the device back. Releasing has no effect from then on.
//
// One board at a time and thread: the driver's functions act on the one that was made last.
std::unique_ptr<Board> cuda_board(std::string_view device = "0", const CudaOptions& options = {});

}  // namespace simtlab::gpu
