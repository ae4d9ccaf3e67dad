// Accel-Sim traces as traces of simtlab: kernelslist.g with its kernels, or one kernel file.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "machine/classes.h"
#include "stream/accelsim/kernel_file.h"
#include "stream/trace/writer.h"

namespace simtlab::stream::accelsim {

struct Imported {
  std::uint64_t kernels = 0, warp_instructions = 0;
  std::uint64_t with_code = 0;                   // kernels whose machine code is known
  std::map<std::string, std::uint64_t> unknown;  // opcodes of no table, with how often they were executed
  std::uint64_t ends_added = 0;                  // warps without a last EXIT
};

// The machine code of a kernel, by its name and binary version; no module: it is not known.
struct KernelCode {
  std::shared_ptr<const ptx::Module> module;
  std::uint32_t function = 0;
};
using FindCode = std::function<KernelCode(const std::string& kernel, unsigned version)>;

// Opens a kernel's text anew; a kernel is read twice: its code first, its warps then.
using Opener = std::function<std::unique_ptr<Text>()>;
void import_kernel(const Opener& open, const std::string& name, const machine::SassTable& table,
                   trace::Writer& to, std::uint32_t stream, Imported& out, const volatile bool* stop,
                   const FindCode& find = {});

bool is_list(const std::string& file);    // kernelslist.g
bool is_kernel(const std::string& file);  // *.traceg, *.traceg.xz
// find: where machine code of the kernels may come from; empty: nowhere. Throws Error(bad_input,
// "accelsim-cubin") where it is not the code that was traced.
Imported import(const std::filesystem::path& file, trace::Writer& to, const volatile bool* stop,
                const FindCode& find = {});

}  // namespace simtlab::stream::accelsim
