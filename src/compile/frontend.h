// From sources to PTX and executables. Runs clang as a sub-process; simtlab itself needs no compiler for PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::compile {

// One entry of a CUDA fat binary: PTX or machine code, as it is there.
struct FatbinEntry {
  bool is_ptx = false;
  unsigned major = 0, minor = 0;  // compute capability of the entry
  // Where it is in what was read, which must still be there when it is unpacked.
  struct Packed {
    const std::uint8_t* data = nullptr;
    std::size_t bytes = 0, offset = 0;  // offset: of the entry in the fat binary, for messages
    std::uint64_t unpacked_bytes = 0, flags = 0;
    std::uint32_t compressed_bytes = 0;
  };
  Packed packed = {};
};
// Parses fatbin wrapper contents (magic 0xBA55ED50 container; raw, LZ4 and zstd entries), or plain PTX text,
// or simtlab's own container. size: bytes readable at data (0 = unknown: trust the header lengths; only for
// images registered in-process).
std::vector<FatbinEntry> read_fatbin(const void* data, std::size_t size, const std::string& name);
// Bytes of the container that `bytes` begins with (device_objects.h, begins_container), at most all of them.
std::size_t container_bytes(std::string_view bytes);
// The PTX to run on compute capability cc: the highest entry that is not above it, else the lowest. Throws if
// there is none.
const FatbinEntry& pick_ptx(const std::vector<FatbinEntry>& entries, unsigned cc_major, unsigned cc_minor,
                            const std::string& name);

// The machine code that runs on compute capability cc: of the same major version, the highest that is not
// above it. Null: there is none.
const FatbinEntry* pick_machine_code(const std::vector<FatbinEntry>& entries, unsigned cc_major,
                                     unsigned cc_minor);
// The PTX of an entry, unpacked, without trailing NUL. Throws Error.
std::string ptx_text(const FatbinEntry& entry, const std::string& name);
// The cubin of an entry, unpacked. Throws Error.
std::string machine_code(const FatbinEntry& entry, const std::string& name);

struct BuildRequest {
  // nvcc-like: sources, -I -D -O -g -std -arch -Xcompiler -l -L -c -o -x ...
  std::vector<std::string> arguments;
  std::filesystem::path output;  // executable
  // Empty: $SIMTLAB_CACHE, else $XDG_CACHE_HOME/simtlab, else ~/.cache/simtlab
  std::filesystem::path cache;
  bool verbose = false;
  std::string architecture = {};  // "sm_80": where the arguments name none; empty: sm_70
  bool colour = false;            // of the compiler's messages
  // Gets the compiler's messages; empty: they go to stderr
  std::function<void(const std::string&)> tell = {};
  // Of processor time for device code with loops of more than a few copies, or of a number that only the
  // compiler knows; then it is compiled again without these wishes
  unsigned unroll_seconds = 60;
};
struct BuildResult {
  std::filesystem::path executable;
  bool from_cache = false;            // nothing was compiled
  std::vector<std::string> notes;     // options that were accepted without effect, one sentence each
  std::vector<std::string> commands;  // what was run, if asked to be verbose
  std::string dependencies;           // of -M and -MM without -o
};
// Compiles and links. Throws Error: usage for bad flags, unavailable (exit 7) with the package to install if
// clang 19 is missing, bad_input if the compiler refuses, unsupported if it does so for what simtlab lacks (a
// screen of its messages is told, all with `verbose`), failure if there is no room in the cache.
BuildResult build(const BuildRequest& request);

// The architecture to compile for if the program is to run on compute capability cc: the newest that clang
// knows and the GPU has, but at least sm_70, which all of our headers need; older GPUs run that, too.
std::string architecture_for(int cc_major, int cc_minor);

// An initial or expected buffer and arguments of a launch file are described in frontend/launch_file.h.

}  // namespace simtlab::compile
