#include "machine/views.h"

#include <algorithm>

#include "machine/print.h"

namespace simtlab::machine {
namespace {

// Registers of the field `size` of loads and stores.
unsigned vector_of(const Instruction& instruction) {
  constexpr std::uint8_t registers[] = {1, 1, 1, 1, 1, 2, 4, 4};
  const int i = instruction.form->field("size");
  if (i < 0 || instruction.form->fields[static_cast<std::size_t>(i)]->bits.width() != 3) return 1;
  return registers[instruction.fields[static_cast<std::size_t>(i)] & 7u];
}

bool is_double(std::string_view mnemonic) {
  return mnemonic == "DADD" || mnemonic == "DMUL" || mnemonic == "DFMA" || mnemonic == "DSETP" ||
         mnemonic == "DMNMX";
}

}  // namespace

unsigned registers_of(const Instruction& instruction, std::size_t index) {
  const OperandForm& form = instruction.form->operands[index];
  if (form.kind != OperandKind::reg && form.kind != OperandKind::ureg) return 0;
  const std::string_view mnemonic = instruction.mnemonic();
  if (form.register_pair || is_double(mnemonic)) return 2;
  if (mnemonic.starts_with("IMAD.WIDE") || mnemonic.starts_with("UIMAD.WIDE"))
    return form.name.ends_with('d') || index + 1 >= instruction.operand_count() - 1 ? 2 : 1;
  return vector_of(instruction);
}

std::size_t Views::Hash::operator()(const std::array<std::uint16_t, max_fields + 1>& key) const {
  std::uint64_t hash = 0;
  for (const std::uint16_t part : key) hash = (hash ^ part) * 0x9e3779b97f4a7c15ull;
  return static_cast<std::size_t>(hash >> 16);
}

// Class and access, without registers.
ptx::Inst Views::class_of(const Instruction& instruction) const {
  const std::string opcode = opcode_text(instruction);
  ptx::Inst view = decode(classes_.of(opcode), opcode);
  if (!device::accesses_memory(view.op_class)) return view;
  const unsigned bytes = access_bytes(opcode);
  view.type = bytes >= 4 ? ptx::Type::b32 : bytes == 2 ? ptx::Type::b16 : ptx::Type::b8;
  view.mods.vector = static_cast<std::uint8_t>(std::max(1u, bytes / 4));
  return view;
}

ptx::Inst Views::of(const Instruction& instruction, const Layout& layout) {
  ptx::Inst view;
  if (std::ranges::any_of(instruction.form->name, [](const NamePart& p) { return p.computed != nullptr; })) {
    view = class_of(instruction);
  } else {
    std::array<std::uint16_t, max_fields + 1> key{};
    std::ranges::copy(instruction.fields, key.begin());
    key.back() = instruction.form->index;
    const auto [it, fresh] = known_.try_emplace(key);
    if (fresh) it->second = class_of(instruction);
    view = it->second;
  }
  view.line = instruction.address;
  if (!instruction.always())
    view.guard = {
        .kind = ptx::OperandKind::pred,
        .negated = instruction.guard_negated,
        .index = instruction.guard == true_predicate
                     ? Layout::predicates + most_temporary_predicates + 1
                     : (instruction.guard_uniform ? Layout::uniform_predicate : 0u) + instruction.guard};
  if (!instruction.always() && instruction.guard == true_predicate) view.guard.negated = false;  // !PT: never
  const auto add = [](auto& list, std::uint8_t& count, ptx::Operand o) {
    if (count < list.size()) list[count++] = o;
  };
  const auto add_registers = [&](bool result, std::uint32_t first, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      const ptx::Operand o{.kind = ptx::OperandKind::reg, .bytes = 4, .index = first + i};
      if (result)
        add(view.dst, view.dst_count, o);
      else
        add(view.src, view.src_count, o);
    }
  };
  for (std::size_t i = 0; i < instruction.operand_count(); ++i) {
    const Operand& o = instruction.operands[i];
    const OperandForm& form = instruction.form->operands[i];
    const bool result = form.name.ends_with('d') || form.name.ends_with("d2");
    switch (o.kind) {
      case OperandKind::reg:
        if (o.number != zero_register) add_registers(result, o.number, registers_of(instruction, i));
        break;
      case OperandKind::ureg:
        if (o.number != zero_uniform)
          add_registers(result, layout.uniform + o.number, registers_of(instruction, i));
        break;
      case OperandKind::pred:
      case OperandKind::upred:
        if (o.number != true_predicate) {
          const ptx::Operand p{
              .kind = ptx::OperandKind::pred,
              .index = (o.kind == OperandKind::upred ? Layout::uniform_predicate : 0u) + o.number};
          if (result)
            add(view.dst, view.dst_count, p);
          else
            add(view.src, view.src_count, p);
        }
        break;
      case OperandKind::memory:
        if (o.base != zero_register)
          add_registers(false, o.base, o.pair || (o.wide && form.uniform == no_bit) ? 2 : 1);
        if (o.uniform != zero_uniform) add_registers(false, layout.uniform + o.uniform, o.wide ? 2 : 1);
        break;
      default: break;
    }
  }
  return view;
}

}  // namespace simtlab::machine
