// Runs kernels given as PTX text on a small simulated memory.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "exec/executor.h"

namespace simtlab::exec {

class Machine {
 public:
  explicit Machine(std::string body, std::uint64_t memory_bytes = 64ull << 20)
      : memory(memory_bytes, 0),
        module(std::make_unique<LoadedModule>(
            ptx::load_module("test.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n" + std::move(body)), memory)) {}

  template <class T>
  std::uint64_t upload(const std::vector<T>& values, const char* what = "cudaMalloc") {
    const auto address = memory.allocate(values.size() * sizeof(T), what).value();
    memory.write(address, std::as_bytes(std::span(values)));
    return address;
  }
  template <class T>
  std::vector<T> download(std::uint64_t address, std::size_t count) const {
    std::vector<T> values(count);
    if (!memory.read(address, std::as_writable_bytes(std::span(values)))) throw std::logic_error("download out of bounds");
    return values;
  }

  // Parameters of any scalar types, each aligned to its size.
  template <class... T>
  static std::vector<std::byte> pack(T... values) {
    std::vector<std::byte> block;
    const auto add = [&](auto value) {
      block.resize((block.size() + sizeof value - 1) / sizeof value * sizeof value + sizeof value);
      std::memcpy(block.data() + block.size() - sizeof value, &value, sizeof value);
    };
    (add(values), ...);
    return block;
  }

  template <class... T>
  std::unique_ptr<Launch> prepare(Dim3 grid, Dim3 block, T... values) {
    LaunchParams p = params;
    p.module = module.get();
    p.grid = grid;
    p.block = block;
    const std::vector<std::byte> packed = pack(values...);
    p.params = packed;
    if (!p.print) p.print = [this](std::string_view text) { printed += text; };
    return std::make_unique<Launch>(p, memory);
  }
  template <class... T>
  FunctionalResult run(Dim3 grid, Dim3 block, T... values) {
    return run_functional(*prepare(grid, block, values...), options);
  }

  GlobalMemory memory;
  std::unique_ptr<LoadedModule> module;
  LaunchParams params;
  FunctionalOptions options;
  std::string printed;
};

// The text of the Error that f throws; fails the caller's expectations if it throws none.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return "[" + e.id() + "] " + e.what();
  }
  return "no error";
}

}  // namespace simtlab::exec
