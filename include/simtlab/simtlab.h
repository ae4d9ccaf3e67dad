// The public C++ interface of simtlab: run PTX kernels on a simulated GPU from your own program.
//
//   using namespace simtlab::api;
//   Gpu gpu(Device::load("a100"));
//   const std::uint64_t x = gpu.allocate(4 * n);
//   gpu.write(x, host.data(), 4 * n);
//   const Module module = gpu.load_ptx("saxpy.ptx", text);
//   gpu.launch(module, "saxpy", {blocks}, {256}, Arguments().add(2.0f).add(x).add(y).add(n));
//   gpu.read(host.data(), y, 4 * n);
//   std::string json = gpu.result_json();   // docs/reference/json.md
//
// or ask for a study, by the names of the tool's command line, and get its result:
//
//   const Execution done = study("predict", {{"saxpy.ptx"}, {{"launch", "saxpy.toml"}, {"gpu", "h100"}}});
//   done.json;                              // docs/reference/json.md
//
// With CMake: find_package(simtlab REQUIRED), target_link_libraries(app PRIVATE simtlab::simtlab).
// docs/guide/library.md.
//
// Every function may throw Failure. Nothing prints, nothing exits, there is no global state: two Gpu objects
// are two machines and may live in two threads; one object is for one thread at a time. Same calls, same
// results, byte for byte. The interface is stable within a major version; before 1.0, within a minor one (the
// library's SOVERSION).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__GNUC__)
#define SIMTLAB_API __attribute__((visibility("default")))
#else
#define SIMTLAB_API
#endif

namespace simtlab::api {

// "0.1.0"
SIMTLAB_API std::string_view version();

// One finding about one place of an input. line and column count from 1; 0 and an empty file mean unknown.
struct Place {
  std::string file;
  std::uint32_t line = 0, column = 0;
  std::string message;  // what is wrong, in a sentence
  std::string text;     // the source line
  std::string hint;     // what to do about it; may be empty
};

// What went wrong. what() is one line.
class SIMTLAB_API Failure : public std::runtime_error {
 public:
  struct Details {
    std::vector<Place> places;
    std::string partial_json, messages;
  };
  Failure(int exit_code, std::string id, std::string text, const std::string& what, Details details = {})
      : std::runtime_error(what),
        exit_code_(exit_code),
        id_(std::move(id)),
        text_(std::move(text)),
        details_(std::move(details)) {}
  ~Failure() override;
  int exit_code() const {
    return exit_code_;
  }  // docs/reference/exit-codes.md: 3 bad input, 4 unsupported, 5 program failed...
  const std::string& id() const { return id_; }  // "ptx-syntax", as `simtlab explain` knows it
  const std::string& text() const {
    return text_;
  }  // as a compiler would print it: place, line, caret, remedy
  // Empty for programs that failed on their own
  const std::vector<Place>& places() const { return details_.places; }
  // Of a study that was stopped or whose program failed: what there is of its result (may be empty), and
  // notes with what the program printed.
  const std::string& partial_json() const { return details_.partial_json; }
  const std::string& messages() const { return details_.messages; }

 private:
  int exit_code_;
  std::string id_, text_;
  Details details_;
};

// Of a study that runs. A later version may add to it.
struct Progress {
  std::string_view activity;  // "simulating", "measuring"; empty: nothing that takes long
  double seconds = 0;         // since study() was called
  // How far it is, for people: "kernel scan: 120 of 4096 blocks, 1.20 M cycles, ..."; may be empty
  std::string_view detail;
};

struct StudyOptions {
  // In the caller's thread, every interval_seconds while the study runs. False stops it: Failure 130, with
  // what was done until then. What it throws stops the study and is passed on.
  std::function<bool(const Progress&)> progress;
  double interval_seconds = 0.1;
};

// What is asked of a study: the words of the command line as data.
struct Request {
  std::vector<std::string> inputs = {};  // sources and flags of the compiler, a kernel, a trace
  // Of the command, without dashes: {"gpu", "h100"}; {"explain", "true"} of a flag; one that may be repeated
  // stands there again. An argument has its name: {"TRACE", "a.trace"}.
  std::vector<std::pair<std::string, std::string>> options = {};
  // What stands behind `--`: a program and its arguments, the arguments of a source, or the command of a
  // sweep.
  std::vector<std::string> program = {};
  bool has_program = !program.empty();
};

struct Execution {
  std::string json;      // the result (docs/reference/json.md), as --json writes it
  std::string messages;  // notes, and what the simulated program printed
  std::string report;    // the text for people
};

// A study in this process: run, cache, predict, dram, probe, corun, corun interfere|profile|replay, sweep,
// compare, validate. Several at once are fine. Paths are relative to the working directory, SIMTLAB_*
// variables are read. Waits in the calling thread, works in another.
SIMTLAB_API Execution study(const std::string& name, const Request& request,
                            const StudyOptions& options = {});

// The text of `simtlab explain`: what a word means ("l2.bytes", "gto", "file-missing"), or why the kernels of
// a result file take so long. Nothing is run. Throws Failure for a word that nothing has.
SIMTLAB_API std::string explain(const std::string& what);

// Every command with its options as JSON, for bindings and graphical front ends: a tree of {"name",
// "description", "options": [{"names", "value", "values", "positional", "required", "choices", "group",
// "description"}], "commands": [...]}. values: at most so many; 0: a flag; -1: any number. extras: takes
// sources or a kernel; program: takes a program behind "--".
SIMTLAB_API std::string commands_json();

// A GPU as numbers; immutable, cheap to copy.
class SIMTLAB_API Device {
 public:
  using Settings =
      std::vector<std::pair<std::string, std::string>>;  // {"sm.count", "4"}, {"sm.clock", "1.41 GHz"}

  // A name of names() or the path of a device file. Throws Failure 3 for unknown names, keys and impossible
  // values.
  static Device load(const std::string& name_or_file, const Settings& settings = {});
  static std::vector<std::string> names();

  const std::string& name() const;     // "a100"
  const std::string& product() const;  // "NVIDIA A100-SXM4-80GB"

 private:
  friend class Gpu;
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

// Kernel parameters in order, each at its natural alignment as PTX lays them out.
class Arguments {
 public:
  template <typename T>
  Arguments& add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "kernel parameters are plain bytes");
    const std::size_t at = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

struct Module {
  std::uint32_t id = 0;
};

struct GpuOptions {
  bool functional = false;       // results only: much faster, no times
  std::uint64_t max_cycles = 0;  // per kernel, then Failure 1 "limit-cycles"; 0 = no limit
  // Of the host, for device memory and resident blocks; 0 = three quarters of what is free
  std::uint64_t max_memory_bytes = 0;
  std::uint32_t registers = 0;  // a thread; 0 = what the machine code has, estimated where PTX is executed
  // What PTX runs as, as --lowering says it: machine, optimised, counts, off. Failure 2 for others
  std::string lowering = "machine";
  std::uint32_t threads = 1;  // of the host, that simulate SMs; 0 = all. Results do not depend on it
  const volatile bool* interrupt = nullptr;     // set to true from elsewhere: a launch ends with Failure 130
  std::function<void(std::string_view)> print;  // device printf; none = discarded
};

class SIMTLAB_API Gpu {
 public:
  explicit Gpu(const Device& device, const GpuOptions& options = {});
  ~Gpu();
  Gpu(Gpu&&) noexcept;
  Gpu& operator=(Gpu&&) noexcept;

  // Device memory, zeroed, 256-byte aligned. Throws Failure 3 "device-memory" when the device has no room.
  std::uint64_t allocate(std::uint64_t bytes);
  void release(std::uint64_t address);  // Failure 3 if it is no allocation
  // Copies advance simulated time. Failure 3 "device-range" if the range is not within one allocation.
  void write(std::uint64_t address, const void* from, std::uint64_t bytes);
  void read(void* to, std::uint64_t address, std::uint64_t bytes);
  void fill(std::uint64_t address, std::byte value, std::uint64_t bytes);

  // name stands in messages. Failure 3 for malformed text, 4 listing everything that is not supported.
  Module load_ptx(const std::string& name, const std::string& text);
  // Runs the kernel to its end. Failure 3 for impossible launches, 5 for faults of the kernel (the GPU stays
  // usable).
  void launch(Module module, const std::string& kernel, Dim3 grid, Dim3 block, const Arguments& arguments,
              std::uint32_t dynamic_shared_bytes = 0);

  double now_ns() const;  // simulated time since construction
  // Everything so far as schema 1 of docs/reference/json.md; host.* metrics and times of the manifest are
  // left to the caller.
  std::string result_json() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace simtlab::api
