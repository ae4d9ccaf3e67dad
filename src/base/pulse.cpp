#include "base/pulse.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/error.h"

namespace simtlab {

void Pulse::begin_kernel(std::string_view kernel, std::uint64_t all_blocks) {
  name_version.fetch_add(1, std::memory_order_acq_rel);
  const std::size_t length = std::min(kernel.size(), name_bytes - 1);
  for (std::size_t i = 0; i < name_bytes; ++i)
    name[i].store(i < length ? kernel[i] : '\0', std::memory_order_relaxed);
  name_version.fetch_add(1, std::memory_order_release);
  blocks.store(0, std::memory_order_relaxed);
  of_blocks.store(all_blocks, std::memory_order_relaxed);
}

void Pulse::begin_period() {
  ended_cycles.fetch_add(cycles.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  ended_instructions.fetch_add(instructions.exchange(0, std::memory_order_relaxed),
                               std::memory_order_relaxed);
}

void Pulse::end_kernel() {
  launches.fetch_add(1, std::memory_order_relaxed);
  of_blocks.store(0, std::memory_order_relaxed);
}

bool Pulse::claim(std::uint64_t process) {
  std::uint64_t nobody = 0;
  return owner.compare_exchange_strong(nobody, process) || nobody == process;
}

PulseReading reading_of(const Pulse& pulse) {
  const auto value = [](const Pulse::Number& n) { return n.load(std::memory_order_relaxed); };
  PulseReading out;
  out.launches = value(pulse.launches);
  out.blocks = value(pulse.blocks);
  out.of_blocks = value(pulse.of_blocks);
  out.cycles = value(pulse.cycles) + value(pulse.ended_cycles);
  out.instructions = value(pulse.instructions) + value(pulse.ended_instructions);
  const std::uint64_t before = pulse.name_version.load(std::memory_order_acquire);
  std::string kernel;
  for (const std::atomic<char>& c : pulse.name) {
    const char letter = c.load(std::memory_order_acquire);  // before the version is looked at again
    if (letter == '\0') break;
    kernel += letter;
  }
  if (out.of_blocks != 0 && before % 2 == 0 && pulse.name_version.load(std::memory_order_relaxed) == before)
    out.kernel = std::move(kernel);
  return out;
}

std::string text_of(const PulseReading& r) {
  std::string out;
  if (!r.kernel.empty())
    out = fmt::format("kernel {}: {} of {} blocks", r.kernel, r.blocks, r.of_blocks);
  else if (r.launches != 0)
    out = fmt::format("{} launches", r.launches);
  const auto count = [&](std::uint64_t n, const char* what) {
    if (n != 0)
      out += fmt::format("{}{:.{}f} M {}", out.empty() ? "" : ", ", static_cast<double>(n) * 1e-6,
                         n < 10'000'000 ? 2 : 0, what);
  };
  count(r.cycles, "cycles");
  count(r.instructions, "warp instructions");
  return out;
}

PulseFile::PulseFile(const std::filesystem::path& path, Mode mode) {
  const auto fail = [&](const char* what) {
    throw Error(ExitCode::failure, "pulse",
                fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
  };
  const bool make = mode == Mode::create;
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | (make ? O_CREAT | O_EXCL : 0), 0600);
  if (file < 0) fail("cannot be opened");
  struct stat facts {};
  // Reading past the end of a mapped file ends the process.
  const bool fits = make ? ::ftruncate(file, sizeof(Pulse)) == 0
                         : ::fstat(file, &facts) == 0 && facts.st_size == static_cast<off_t>(sizeof(Pulse));
  void* const memory =
      fits ? ::mmap(nullptr, sizeof(Pulse), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  ::close(file);
  if (memory == MAP_FAILED) fail(fits ? "cannot be mapped" : "has another size");
  pulse_ = make ? new (memory) Pulse : static_cast<Pulse*>(memory);
}

PulseFile::~PulseFile() { ::munmap(static_cast<void*>(pulse_), sizeof(Pulse)); }

}  // namespace simtlab
