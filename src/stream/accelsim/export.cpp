#include "stream/accelsim/export.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>

#include "base/error.h"
#include "base/files.h"
#include "machine/classes.h"
#include "machine/code.h"
#include "stream/trace/walk.h"

namespace simtlab::stream::accelsim {
namespace {

using trace::Code;

// An opcode of the class for an instruction of PTX; what it computes is not told apart further.
std::string_view machine_name(const ptx::Inst& inst) {
  const device::OpClassTraits& of = device::traits(inst.op_class);
  const auto or_plain = [&](std::string_view opcode) { return opcode.empty() ? of.sass : opcode; };
  switch (inst.op) {
    case ptx::Op::fma:
    case ptx::Op::mad: return or_plain(of.sass_fma);
    case ptx::Op::mul: return or_plain(of.sass_mul);
    case ptx::Op::add:
    case ptx::Op::sub: return or_plain(of.sass_add);
    case ptx::Op::cp_async_commit: return "LDGDEPBAR";
    case ptx::Op::cp_async_wait: return "DEPBAR.LE";
    case ptx::Op::bar: return inst.mods.bar == ptx::BarMode::arrive ? "BAR.ARV" : of.sass;
    case ptx::Op::bar_warp: return "WARPSYNC";
    default: break;
  }
  if (inst.op_class == ptx::OpClass::barrier) return "WARPSYNC";
  return inst.op_class == ptx::OpClass::fence && inst.mods.scope == ptx::Scope::cta ? "MEMBAR.SC.CTA"
                                                                                    : of.sass;
}

std::string_view control_name(const ptx::Inst& inst, bool entry) {
  switch (inst.op) {
    case ptx::Op::exit: return "EXIT";
    case ptx::Op::ret: return entry ? "EXIT" : "RET.REL.NODEC";
    case ptx::Op::call: return "CALL.REL.NOINC";
    case ptx::Op::brx: return "BRX";
    case ptx::Op::nanosleep: return "NANOSLEEP";
    default: return "BRA";
  }
}

std::string memory_name(const ptx::Inst& inst, ptx::Space space, unsigned bytes) {
  const bool store = inst.op == ptx::Op::st;
  std::string name;
  if (inst.op == ptx::Op::cp_async || inst.op == ptx::Op::tex)
    name = device::traits(inst.op_class).sass;
  else if (inst.op == ptx::Op::red)
    name = space == ptx::Space::shared ? "ATOMS" : "RED.E";
  else if (inst.op == ptx::Op::atom)
    name = space == ptx::Space::shared ? "ATOMS" : "ATOMG.E";
  else if (space == ptx::Space::shared)
    name = store ? "STS" : "LDS";
  else if (space == ptx::Space::local)
    name = store ? "STL" : "LDL";
  else if (space == ptx::Space::constant || space == ptx::Space::param)
    name = "LDC";
  else if (space == ptx::Space::generic)
    name = store ? "ST.E" : "LD.E";
  else
    name = device::traits(store ? ptx::OpClass::store : ptx::OpClass::load).sass;
  if (bytes == 4 || bytes == 0 || inst.op == ptx::Op::tex) return name;
  return name + (bytes < 4 ? fmt::format(".U{}", bytes * 8) : fmt::format(".{}", bytes * 8));
}

class Exporter {
 public:
  Exporter(const trace::ReplayedLaunch& launch, FileWriter& out) : launch_(launch), out_(out) {}

  void header(std::uint64_t id, std::uint32_t stream, unsigned version) {
    const trace::Kernel& k = launch_.kernel();
    put("-kernel name = {}\n-kernel id = {}\n-grid dim = ({},{},{})\n-block dim = ({},{},{})\n-shmem = "
        "{}\n-nregs = {}\n-binary version = {}\n",
        launch_.function().name, id, k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2],
        k.shared_bytes, launch_.function().registers, version);
    put("-cuda stream id = {}\n-shmem base_addr = 0x0000000000000000\n-local mem base_addr = "
        "0x0000000000000000\n-nvbit version = 0\n"
        "-accelsim tracer version = 5\n-enable lineinfo = 1\n\n",
        stream);
    put("#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
        "[adrrescompress?] [mem_addresses] immediate\n\n");
  }

  void block(const trace::BlockEntry& block) {
    const trace::Kernel& k = launch_.kernel();
    const std::uint64_t n = block.number;
    put("#BEGIN_TB\n\nthread block = {},{},{}\n\n", n % k.grid[0], n / k.grid[0] % k.grid[1],
        n / k.grid[0] / k.grid[1]);
    for (unsigned warp = 0; warp < launch_.warps_per_block(); ++warp) {
      // How many come stands before them.
      std::uint64_t count = 0;
      for (trace::WarpWalk walk(launch_, block, warp); !walk.at_end(); walk.step()) ++count;
      put("warp = {}\ninsts = {}\n", warp, count);
      for (trace::WarpWalk walk(launch_, block, warp); !walk.at_end();) {
        const std::uint32_t function = walk.function();
        instruction(function, walk.step());
      }
      put("\n");
    }
    put("#END_TB\n\n");
  }

 private:
  template <class... T>
  void put(fmt::format_string<T...> format, T&&... values) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
    out_.write(text_);
  }

  void instruction(std::uint32_t function, const Step& step) {
    const Code& code = launch_.reader().codes()[function];
    const ptx::Inst& inst = code.function().code[step.pc];
    // Functions lie apart; 16 bytes an instruction.
    const std::uint64_t pc = code.addresses.empty()
                                 ? (std::uint64_t{function} << 28) + std::uint64_t{step.pc} * 16
                                 : code.addresses[step.pc];
    const bool memory = trace::has_addresses(inst);
    std::string name = !code.mnemonics.empty() ? code.mnemonics[step.pc]
                       : inst.op_class == ptx::OpClass::control
                           ? std::string(control_name(inst, code.function().is_entry))
                       : memory ? memory_name(inst, step.space, step.bytes)
                                : std::string(machine_name(inst));
    text_.clear();
    const auto out = std::back_inserter(text_);
    fmt::format_to(out, "{} {:04x} {:08x} ", inst.source_line, pc, step.mask);
    registers(inst.dst.data(), inst.dst_count);
    fmt::format_to(out, "{} ", name);
    registers(inst.src.data(), inst.src_count);
    if (!memory) {
      fmt::format_to(out, "0 ");
    } else {
      fmt::format_to(out, "{} ", machine::access_bytes(name));
      addresses(step);
    }
    fmt::format_to(out, "{}\n", immediate(code.function(), inst));
    out_.write(text_);
  }

  static std::uint64_t immediate(const ptx::Function& f, const ptx::Inst& inst) {
    if (inst.op != ptx::Op::cp_async_wait || inst.src_count == 0 || inst.src[0].kind != ptx::OperandKind::imm)
      return 0;
    return inst.src[0].index < f.constants.size() ? f.constants[inst.src[0].index].value & 7 : 0;
  }

  // Machines have 255 registers: rows beyond them share names. Predicates are not told.
  void registers(const ptx::Operand* operands, unsigned count) {
    std::string list;
    unsigned n = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (operands[i].kind != ptx::OperandKind::reg) continue;
      list += fmt::format("R{} ", operands[i].index % 255);
      ++n;
    }
    fmt::format_to(std::back_inserter(text_), "{} {}", n, list);
  }

  void addresses(const Step& step) {
    const auto out = std::back_inserter(text_);
    if (step.addresses == nullptr || step.mask == 0) {
      fmt::format_to(out, "1 0x0000000000000000 0 ");
      return;
    }
    const auto first = static_cast<unsigned>(std::countr_zero(step.mask)),
               last = 31u - static_cast<unsigned>(std::countl_zero(step.mask));
    const std::uint64_t stride = last > first ? step.addresses[first + 1] - step.addresses[first] : 0;
    bool regular = last > first && static_cast<unsigned>(std::popcount(step.mask)) == last - first + 1;
    for (unsigned lane = first; regular && lane < last; ++lane)
      regular = step.addresses[lane + 1] - step.addresses[lane] == stride;
    fmt::format_to(out, "{} 0x{:016x} ", regular ? 1 : 2, step.addresses[first]);
    if (regular) {
      fmt::format_to(out, "{} ", static_cast<std::int64_t>(stride));
      return;
    }
    std::uint64_t before = step.addresses[first];
    for (std::uint32_t rest = step.mask & (step.mask - 1); rest != 0; rest &= rest - 1) {
      const std::uint64_t address = step.addresses[std::countr_zero(rest)];
      fmt::format_to(out, "{} ", static_cast<std::int64_t>(address - before));
      before = address;
    }
  }

  const trace::ReplayedLaunch& launch_;
  FileWriter& out_;
  std::string text_;
};

}  // namespace

std::uint64_t export_trace(trace::Reader& from, const std::filesystem::path& folder, unsigned version,
                           const volatile bool* stop) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ExitCode::failure, "file-write", fmt::format("{}: {}", folder.string(), error.message()));
  FileWriter list(folder / "kernelslist.g");
  std::uint64_t kernels = 0;
  std::optional<trace::Operation> written;  // what a copy to the device wrote stands before it
  from.rewind();
  while (const std::optional<trace::Operation> op = from.next()) {
    if (op->kind == trace::OpKind::copy && op->b == 0 && written && written->b == op->a)
      list.write(fmt::format("MemcpyHtoD,0x{:016x},{}\n", written->a, op->a));
    written.reset();
    if (op->kind == trace::OpKind::invalidate) written = op;
    if (op->kind != trace::OpKind::kernel) continue;
    const std::string name = fmt::format("kernel-{}.traceg", ++kernels);
    const trace::ReplayedLaunch launch(from, op->kernel);
    FileWriter file(folder / name);
    Exporter exporter(launch, file);
    const auto& machine = launch.function().machine;
    exporter.header(kernels, op->stream, machine ? machine->generation : version);
    for (std::uint64_t i = 0; i < launch.block_count(); ++i) {
      if (stop != nullptr && *stop)
        throw Error(ExitCode::interrupted, "interrupted", fmt::format("kernel {}, block {}", kernels, i));
      exporter.block(launch.entry(i));
    }
    file.close();
    list.write(name + "\n");
  }
  list.close();
  return kernels;
}

}  // namespace simtlab::stream::accelsim
