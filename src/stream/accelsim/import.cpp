#include "stream/accelsim/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/shown.h"
#include "stream/accelsim/known_code.h"
#include "stream/trace/segment.h"

namespace simtlab::stream::accelsim {
namespace {

using machine::access_bytes;
using machine::decode;
using machine::Meaning;
using machine::SassTable;

constexpr std::size_t most_static = 200000;  // instructions of one kernel's code
// Of a thread: the window that Accel-Sim's own reader assumes
constexpr std::uint64_t local_bytes = 16384;
constexpr unsigned zero_register = 255;

// Static instructions of a kernel by what their lines say; the same pc with other registers is another
// instruction.
class CodeTable {
 public:
  explicit CodeTable(const SassTable& table) : table_(table) {}

  void add(const KernelFile& file) {
    const Instruction& i = file.instruction();
    if (!known_.try_emplace(key(i), static_cast<std::uint32_t>(entries_.size())).second) return;
    if (entries_.size() == most_static)
      file.lines().refuse(
          {}, fmt::format("the kernel's code has more than {} different instructions", most_static));
    entries_.push_back({i.pc, i, std::string(i.opcode)});
  }

  // In the order of their addresses; then the EXIT for warps that have none.
  trace::Code finish(const Header& header) {
    std::vector<std::uint32_t> order(entries_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return entries_[i].pc; });
    place_.resize(order.size());
    auto module = std::make_shared<ptx::Module>();
    module->name = header.name;
    module->target = fmt::format("sm_{}", header.binary_version);
    ptx::Function& f = module->functions.emplace_back();
    f.name = header.name.empty() ? "kernel" : header.name;
    f.is_entry = true;
    f.registers = f.unlimited_registers =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(1, header.registers));
    f.reg_rows = f.total_reg_rows = 512;
    f.pred_count = f.total_preds = 1;
    f.total_frame_bytes = f.frame_bytes = local_bytes;
    trace::Code code;
    for (const std::uint32_t i : order) {
      const Entry& e = entries_[i];
      place_[i] = static_cast<std::uint32_t>(f.code.size());
      const Meaning meaning = table_.of(e.opcode);
      if (!meaning.known) code.guessed.push_back(place_[i]);
      f.code.push_back(instruction(meaning, e, f));
      code.mnemonics.push_back(e.opcode);
      code.addresses.push_back(e.pc);
    }
    f.code.push_back(
        decode({ptx::Op::exit, ptx::OpClass::control, ptx::Type::none, ptx::Space::generic, true}, "EXIT"));
    code.mnemonics.push_back("EXIT");
    code.addresses.push_back(entries_.empty() ? 0 : entries_[order.back()].pc + 16);
    code.module = std::move(module);
    return code;
  }

  std::uint32_t place(const Instruction& i) {
    const auto found = known_.find(key(i));
    SIMTLAB_ASSERT(found != known_.end(), "a trace that is read twice says the same twice");
    return place_[found->second];
  }

 private:
  struct Entry {
    std::uint64_t pc;
    Instruction line;
    std::string opcode;
  };

  const std::string& key(const Instruction& i) {
    key_.clear();
    const auto put = [&](const auto& value) {
      key_.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    put(i.pc);
    put(i.source_line);
    put(i.destinations);
    for (unsigned k = 0; k < i.destinations + i.sources; ++k) put(i.registers[k]);
    put(i.immediate);
    key_ += i.opcode;
    return key_;
  }

  // The line names the first register of a pair or four; the others follow from the width of what it does.
  static ptx::Inst instruction(const Meaning& meaning, const Entry& e, ptx::Function& f) {
    ptx::Inst inst = decode(meaning, e.opcode);
    const Instruction& line = e.line;
    const auto add = [](ptx::Operand* operands, std::uint8_t& count, std::size_t most, unsigned number,
                        unsigned wide) {
      for (unsigned k = 0; k < wide && number + k < zero_register && count < most; ++k)
        operands[count++] = {ptx::OperandKind::reg, 4, false, number + k};
    };
    const bool fp64 = meaning.op_class == ptx::OpClass::fp64,
               extended = e.opcode.find(".E") != std::string::npos;
    const unsigned words = std::max(1u, access_bytes(e.opcode) / 4);
    const bool load = meaning.op == ptx::Op::ld || meaning.op == ptx::Op::atom,
               store = meaning.op == ptx::Op::st;
    const unsigned result = load ? words : fp64 || e.opcode.find(".WIDE") != std::string::npos ? 2 : 1;
    for (unsigned k = 0; k < line.destinations; ++k)
      add(inst.dst.data(), inst.dst_count, ptx::max_dst, line.registers[k], result);
    for (unsigned k = 0; k < line.sources; ++k) {
      const bool address = k == 0 && extended, data = k == 1 && store;
      add(inst.src.data(), inst.src_count, ptx::max_src, line.registers[line.destinations + k],
          data              ? words
          : address || fp64 ? 2
                            : 1);
    }
    if (meaning.op == ptx::Op::cp_async_wait) {
      inst.src = {};
      inst.src_count = 1;
      inst.src[0] = {ptx::OperandKind::imm, 4, false, static_cast<std::uint32_t>(f.constants.size())};
      f.constants.push_back({ptx::Constant::Kind::value, 0,
                             static_cast<std::uint64_t>(std::clamp<std::int64_t>(line.immediate, 0, 7))});
    }
    inst.source_line = inst.line = line.source_line;
    return inst;
  }

  const SassTable& table_;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> place_;  // in the code, by number
  std::string key_;
};

// A line as a step of its warp; addresses as the model wants them: offsets for shared and local memory.
void to_step(const Header& header, const ptx::Inst& inst, std::uint32_t pc, Instruction line,
             std::array<std::uint64_t, 32>& addresses, Step& step) {
  step = {};
  step.inst = &inst;
  step.pc = pc;
  step.mask = step.active = line.mask;
  step.space = inst.mods.space;
  step.arrives = inst.op == ptx::Op::bar && step.mask != 0;
  if (!line.has_addresses || !trace::has_addresses(inst)) return;
  using enum ptx::Space;
  const auto first = line.addresses[static_cast<unsigned>(std::countr_zero(line.mask))];
  if (step.space == generic) {
    const bool bases = header.shared_base != 0 && header.local_base != 0;
    step.space = !bases || (first >= header.shared_base && first < header.local_base)    ? shared
                 : first >= header.local_base && first - header.local_base < local_bytes ? local
                                                                                         : global;
  } else if (step.space == tex) {
    step.space = global;
  }
  step.bytes = static_cast<std::uint16_t>(access_bytes(line.opcode));
  if (step.space == shared || step.space == constant) step.bytes = std::bit_floor(step.bytes);
  for (std::uint32_t rest = line.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::uint64_t address = line.addresses[lane];
    if (step.space == shared && header.shared_base != 0 && address >= header.shared_base)
      address -= header.shared_base;
    if (step.space == local)
      address =
          (header.local_base != 0 && address >= header.local_base ? address - header.local_base : address) %
          local_bytes;
    addresses[lane] = address;
  }
  step.addresses = addresses.data();
}

class BlockWriter {
 public:
  // end: an instruction that ends a warp.
  BlockWriter(const trace::Code& code, std::uint32_t number, std::uint32_t end, unsigned warps,
              trace::Writer& to, trace::Writer::Place place)
      : view_(code.function(), number), end_(end), warps_(warps), to_(to), place_(place) {}

  void begin(std::uint64_t block) {
    for (trace::WarpEncoder& warp : warps_) warp.begin();
    ended_.assign(warps_.size(), false);
    segment_ = {.block = block};
    pending_ = 0;
  }
  void add(unsigned warp, const Step& step) {
    const std::size_t before = warps_[warp].bytes();
    warps_[warp].add(view_, step);
    pending_ += warps_[warp].bytes() - before;
    ++segment_.warp_instructions;
    segment_.thread_instructions += static_cast<unsigned>(std::popcount(step.mask));
    ended_[warp] = view_.traits[step.pc].control;
    if (pending_ >= trace::segment_bytes) flush();
  }
  // Returns how many warps had no end of their own.
  unsigned end() {
    unsigned added = 0;
    Step exit;
    exit.pc = end_;
    for (unsigned warp = 0; warp < warps_.size(); ++warp) {
      if (!ended_[warp]) {
        add(warp, exit);
        ++added;
      }
      warps_[warp].end();
    }
    flush();
    return added;
  }

 private:
  void flush() {
    to_.add_segment(place_, segment_, trace::take_segment(warps_));
    segment_.warp_instructions = segment_.thread_instructions = 0;
    pending_ = 0;
  }

  trace::CodeView view_;
  std::uint32_t end_;
  std::vector<trace::WarpEncoder> warps_;
  std::vector<bool> ended_;
  trace::Writer::Segment segment_;
  std::size_t pending_ = 0;
  trace::Writer& to_;
  trace::Writer::Place place_;
};

void check(const volatile bool* stop, const KernelFile& file) {
  if (stop != nullptr && *stop)
    throw Error(ExitCode::interrupted, "interrupted",
                fmt::format("{} line {}", file.lines().name(), file.lines().number()));
}

}  // namespace

namespace {

// The static code of a kernel: what is known of it, or what its lines say.
class StaticCode {
 public:
  StaticCode(const KernelCode& known, const SassTable& table, const Header& header) : lines_(table) {
    if (known.module) known_.emplace(known, header, static_cast<std::uint32_t>(local_bytes));
  }
  void add(const KernelFile& file) {
    if (known_)
      known_->place(file);
    else
      lines_.add(file);
  }
  void finish(const Header& header) {
    if (!known_) gathered_ = lines_.finish(header);
  }
  const trace::Code& code() const { return known_ ? known_->code() : gathered_; }
  std::uint32_t place(const KernelFile& file) {
    return known_ ? known_->place(file) : lines_.place(file.instruction());
  }
  std::uint32_t end() const {
    return known_ ? known_->end() : static_cast<std::uint32_t>(gathered_.function().code.size() - 1);
  }
  void set_barrier(Step& step) const {
    if (known_ && step.arrives) known_->set_barrier(step);
  }

 private:
  CodeTable lines_;
  trace::Code gathered_;
  std::optional<KnownCode> known_;
};

// Once through the kernel's text: blocks, warps and their instructions.
void write_blocks(KernelFile& file, StaticCode& codes, BlockWriter& writer, Imported& out,
                  const volatile bool* stop) {
  const trace::Code& code = codes.code();
  std::set<std::uint64_t> blocks;
  std::vector<bool> guessed(code.function().code.size());
  for (const std::uint32_t pc : code.guessed) guessed[pc] = true;
  std::array<std::uint64_t, 32> addresses{};
  Step step;
  for (KernelFile::Event event; (event = file.next()) != KernelFile::Event::end;) {
    switch (event) {
      case KernelFile::Event::block:
        check(stop, file);
        if (!blocks.insert(file.block()).second)
          file.lines().refuse({}, fmt::format("block {} has been there already", file.block()));
        writer.begin(file.block());
        break;
      case KernelFile::Event::instruction: {
        const std::uint32_t pc = codes.place(file);
        to_step(file.header(), code.function().code[pc], pc, file.instruction(), addresses, step);
        codes.set_barrier(step);
        writer.add(file.warp(), step);
        if (guessed[pc]) ++out.unknown[code.mnemonics[pc]];
        ++out.warp_instructions;
        break;
      }
      case KernelFile::Event::block_end: out.ends_added += writer.end(); break;
      default: break;
    }
  }
  if (blocks.empty()) file.lines().truncated("the kernel has no block");
}

}  // namespace

void import_kernel(const Opener& open, const std::string& name, const SassTable& table, trace::Writer& to,
                   std::uint32_t stream, Imported& out, const volatile bool* stop, const FindCode& find) {
  KernelFile first(open(), name);
  KernelCode known;
  if (find) known = find(first.header().name, static_cast<unsigned>(first.header().binary_version));
  StaticCode codes(known, table, first.header());
  for (KernelFile::Event event; (event = first.next()) != KernelFile::Event::end;) {
    if (event == KernelFile::Event::instruction) codes.add(first);
    if (event == KernelFile::Event::block) check(stop, first);
  }
  codes.finish(first.header());
  KernelFile file(open(), name);
  const Header& header = file.header();
  const trace::Code& code = codes.code();
  trace::Kernel kernel;
  kernel.function = to.add_code(trace::write_code(*code.module, code.function(), &code));
  kernel.grid = {header.grid.x, header.grid.y, header.grid.z};
  kernel.block = {header.block.x, header.block.y, header.block.z};
  kernel.shared_bytes = static_cast<std::uint32_t>(header.shared_bytes);
  const trace::Writer::Place place = to.reserve_kernel(stream);
  to.begin_kernel(place, kernel);
  BlockWriter writer(code, kernel.function, codes.end(), header.warps(), to, place);
  write_blocks(file, codes, writer, out, stop);
  to.finish_kernel(place);
  if (known.module) ++out.with_code;
  ++out.kernels;
}

}  // namespace simtlab::stream::accelsim
