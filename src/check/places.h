// Places in device code and in memory, in words.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exec/executor.h"
#include "exec/memory.h"
#include "ptx/module.h"
#include "result/findings.h"

namespace simtlab::check {

// Source files that findings quote; each is read once.
class Sources {
 public:
  // A line, trimmed; empty: there is none.
  std::string line(const std::string& file, std::uint32_t number);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

result::CodePlace place_of(Sources& sources, const std::string& kernel, const ptx::Module& module,
                           const ptx::Function& function, const ptx::Inst& inst);
// "word 12 of the 4096 bytes of cudaMalloc"; "bytes 8 to 11 of shared variable 'tile'"
std::string global_place(const exec::GlobalMemory& memory, std::uint64_t address, unsigned bytes);
// stride: bytes from a block of a cluster to the next one; 0: there is one.
std::string shared_place(const ptx::Module& module, const ptx::Function& kernel, std::uint64_t offset,
                         unsigned bytes, std::uint64_t stride = 0);
// As the instruction takes it: a float as a number, an integer as one.
std::string value_text(const ptx::Inst& inst, std::uint64_t bits, unsigned bytes);

}  // namespace simtlab::check
