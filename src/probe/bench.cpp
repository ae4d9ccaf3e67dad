#include "probe/bench.h"

#include <fmt/format.h>

#include "base/error.h"

namespace simtlab::probe {

Bench::~Bench() {
  for (auto& [text, loaded] : modules_) {
    try {
      board.unload(loaded.module);
    } catch (const Error&) {  // a board that is lost has no modules
    }
  }
}

Bench::Buffer::Buffer(Bench& bench, std::uint64_t bytes, std::uint64_t alignment)
    : bench_(bench), base_(bench.board.allocate(bytes + (alignment > 256 ? alignment : 0))), bytes_(bytes) {
  aligned_ = (base_ + alignment - 1) / alignment * alignment;
}

Bench::Buffer::~Buffer() {
  try {
    bench_.board.release(base_);
  } catch (const Error&) {  // nothing can be released on a board that is lost
  }
}

gpu::Board::Function Bench::kernel(const std::string& body, const std::string& name) {
  auto at = modules_.find(body);
  if (at == modules_.end())
    at = modules_.emplace(body, Loaded{board.load("probe.ptx", ptx_header(board.facts()) + body), {}}).first;
  auto& functions = at->second.functions;
  if (const auto known = functions.find(name); known != functions.end()) return known->second;
  const gpu::Board::Function function = board.function(at->second.module, name);
  board.prefer_l1(function);
  return functions[name] = function;
}

void Bench::forget(const std::string& body) {
  if (const auto at = modules_.find(body); at != modules_.end()) {
    board.unload(at->second.module);
    modules_.erase(at);
  }
}

void Bench::check_interrupt() const {
  if (options.interrupt != nullptr && *options.interrupt)
    throw Error(ExitCode::interrupted, "interrupted", "interrupted");
}

std::vector<std::uint64_t> Bench::run(gpu::Board::Function function, std::uint32_t blocks,
                                      std::uint32_t threads, const gpu::Arguments& arguments,
                                      std::uint64_t out, std::size_t words, std::uint32_t shared_bytes) {
  check_interrupt();
  ++launches;
  gpu::Board::Launch launch;
  launch.function = function;
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  launch.shared_bytes = shared_bytes;
  launch.arguments = arguments;
  board.launch(launch);
  board.synchronize();
  std::vector<std::uint64_t> result(words);
  if (words != 0) board.copy_out(result.data(), out, words * sizeof(std::uint64_t));
  return result;
}

// Version of the PTX ISA that knows the target (PTX ISA manual, release notes). Later boards take the text of
// an earlier one.
std::string ptx_header(const gpu::BoardFacts& facts) {
  struct Generation {
    int cc;
    const char* version;
    const char* target;
  };
  static constexpr Generation generations[] = {
      {90, "7.8", "sm_90"}, {86, "7.1", "sm_86"}, {80, "7.0", "sm_80"}, {75, "6.3", "sm_75"},
      {70, "6.0", "sm_70"}, {60, "5.0", "sm_60"}, {52, "4.1", "sm_52"}, {50, "4.0", "sm_50"},
      {35, "3.1", "sm_35"}, {30, "3.0", "sm_30"}};
  const int cc = facts.cc_major * 10 + facts.cc_minor;
  const char *version = "3.0", *target = "sm_20";
  for (const Generation& g : generations)
    if (cc >= g.cc) {
      version = g.version, target = g.target;
      break;
    }
  return fmt::format(".version {}\n.target {}\n.address_size 64\n", version, target);
}

}  // namespace simtlab::probe
