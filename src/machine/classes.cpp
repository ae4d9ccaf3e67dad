#include "machine/classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/immortal.h"
#include "base/shown.h"
#include "device/data_files.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::OpClass;
using ptx::Space;
using ptx::Type;

constexpr device::Subject subject{.noun = "opcode table",
                                  .file = "opcode table",
                                  .folder = "machine/classes",
                                  .layer = "opcode table",
                                  .example = "volta",
                                  .list = "ls data/machine/classes",
                                  .show = "ls data/machine/classes"};

struct NamedClass {
  std::string_view name;
  Meaning meaning;
};

// Classes beyond those of ptx::OpClass, which stand for themselves.
const NamedClass special_words[] = {
    {"fp32 add", {Op::add, OpClass::fp32, Type::f32, Space::generic, true}},
    {"fp32 mul", {Op::mul, OpClass::fp32, Type::f32, Space::generic, true}},
    {"fp32 fma", {Op::fma, OpClass::fp32, Type::f32, Space::generic, true}},
    {"fp64 add", {Op::add, OpClass::fp64, Type::f64, Space::generic, true}},
    {"fp64 mul", {Op::mul, OpClass::fp64, Type::f64, Space::generic, true}},
    {"fp64 fma", {Op::fma, OpClass::fp64, Type::f64, Space::generic, true}},
    {"fp16 add", {Op::add, OpClass::fp16, Type::f16x2, Space::generic, true}},
    {"fp16 mul", {Op::mul, OpClass::fp16, Type::f16x2, Space::generic, true}},
    {"fp16 fma", {Op::fma, OpClass::fp16, Type::f16x2, Space::generic, true}},
    {"load global", {Op::ld, OpClass::load, Type::none, Space::global, true}},
    {"load local", {Op::ld, OpClass::load, Type::none, Space::local, true}},
    {"load shared", {Op::ld, OpClass::shared, Type::none, Space::shared, true}},
    {"load constant", {Op::ld, OpClass::constant, Type::none, Space::constant, true}},
    {"load generic", {Op::ld, OpClass::load, Type::none, Space::generic, true}},
    {"store global", {Op::st, OpClass::store, Type::none, Space::global, true}},
    {"store local", {Op::st, OpClass::store, Type::none, Space::local, true}},
    {"store shared", {Op::st, OpClass::shared, Type::none, Space::shared, true}},
    {"store generic", {Op::st, OpClass::store, Type::none, Space::generic, true}},
    {"atomic global", {Op::atom, OpClass::atomic, Type::none, Space::global, true}},
    {"atomic generic", {Op::atom, OpClass::atomic, Type::none, Space::generic, true}},
    {"atomic shared", {Op::atom, OpClass::shared_atomic, Type::none, Space::shared, true}},
    {"reduction global", {Op::red, OpClass::atomic, Type::none, Space::global, true}},
    {"texture", {Op::tex, OpClass::texture, Type::none, Space::tex, true}},
    {"async copy", {Op::cp_async, OpClass::async_copy, Type::none, Space::global, true}},
    {"async commit", {Op::cp_async_commit, OpClass::async_copy, Type::none, Space::generic, true}},
    {"async wait", {Op::cp_async_wait, OpClass::async_copy, Type::none, Space::generic, true}},
    {"branch", {Op::bra, OpClass::control, Type::none, Space::generic, true}},
    {"call", {Op::call, OpClass::control, Type::none, Space::generic, true}},
    {"return", {Op::ret, OpClass::control, Type::none, Space::generic, true}},
    {"exit", {Op::exit, OpClass::control, Type::none, Space::generic, true}},
    {"sleep", {Op::nanosleep, OpClass::control, Type::none, Space::generic, true}},
    {"barrier", {Op::bar, OpClass::barrier, Type::none, Space::generic, true}},
    {"fence", {Op::membar, OpClass::fence, Type::none, Space::generic, true}},
    {"reconvergence", {Op::bar_warp, OpClass::int_alu, Type::none, Space::generic, true}},
};

// Of a class that needs nothing but its name.
Meaning plain(OpClass c) { return {Op::nop, c, Type::none, Space::generic, true}; }

std::optional<Meaning> meaning_of(std::string_view word) {
  for (const NamedClass& w : special_words)
    if (w.name == word) return w.meaning;
  for (std::size_t i = 0; i < device::op_class_count; ++i)
    if (const auto c = static_cast<OpClass>(i);
        device::traits(c).is_machine_instruction && ptx::name_of(c) == word)
      return plain(c);
  return std::nullopt;
}

// Calls each(part) for the words between dots behind the first; stops when it returns true.
template <class F>
bool any_modifier(std::string_view mnemonic, F&& each) {
  for (std::size_t dot = mnemonic.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = mnemonic.find('.', dot + 1);
    if (each(mnemonic.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1))) return true;
    dot = next;
  }
  return false;
}

bool has(std::string_view mnemonic, std::string_view modifier) {
  return any_modifier(mnemonic, [&](std::string_view part) { return part == modifier; });
}

// Of a conversion: "F2F.F64.F32", "I2F.U64", and what forms.csv calls "F2F.64".
bool is_of_64_bits(std::string_view mnemonic) {
  return any_modifier(mnemonic,
                      [](std::string_view part) { return part.ends_with("64") && part.size() <= 3; });
}

unsigned number_of(std::string_view digits) {
  unsigned value = 0;
  if (digits.empty() || digits.size() > 3) return 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return 0;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value;
}

}  // namespace

std::string_view generation(unsigned version) {
  if (version >= 20 && version < 30) return "fermi";
  if (version >= 30 && version < 50) return "kepler";
  if (version >= 50 && version < 60) return "maxwell";
  if (version >= 60 && version < 70) return "pascal";
  if (version >= 70 && version < 75) return "volta";
  if (version == 75) return "turing";
  if (version >= 80 && version < 90) return "ampere";
  if (version >= 90 && version < 100) return "hopper";
  return {};
}

SassTable SassTable::of_version(unsigned version) {
  const std::string_view name = generation(version);
  if (name.empty())
    throw Error(ExitCode::unsupported, "sass-generation",
                fmt::format("the trace is of machine code for binary version {}", version),
                "tables exist for Fermi to Hopper: 20 to 90");
  return SassTable(device::read_chain(subject, device::find_data_file(subject, std::string(name))));
}

const SassTable& SassTable::shipped(unsigned version) {
  static std::mutex mutex;
  static Immortal<std::map<std::string_view, SassTable>> tables;
  const std::lock_guard lock(mutex);
  const auto known = tables->find(machine::generation(version));
  if (known != tables->end()) return known->second;
  return tables->emplace(machine::generation(version), of_version(version)).first->second;
}

SassTable::SassTable(const std::vector<device::Document>& chain) {
  for (const device::Document& document : chain) {
    for (const device::Node& node : document.nodes) {
      constexpr std::string_view prefix = "opcode.";
      if (node.key == "description") continue;
      const std::optional<Meaning> meaning = meaning_of(node.value);
      if (!node.key.starts_with(prefix) || !meaning)
        throw Error(
            ExitCode::bad_input, "sass-table",
            document.diagnostic(node.pos,
                                fmt::format("'{}' is no class of instructions, or stands outside of [opcode]",
                                            shown(node.value)),
                                "docs/reference/traces.md lists the classes"));
      entries_.try_emplace(node.key.substr(prefix.size()), *meaning);
    }
  }
  // An opcode that no file has may still be the one of a class.
  const auto is_opcode = [](OpClass c) {
    return device::traits(c).is_machine_instruction && !device::traits(c).sass.empty();
  };
  device::for_classes(
      is_opcode, [&](OpClass c) { entries_.try_emplace(std::string(device::traits(c).sass), plain(c)); });
}

Meaning SassTable::of(std::string_view mnemonic) const {
  for (std::string_view name = mnemonic;; name = name.substr(0, name.rfind('.'))) {
    if (const auto found = entries_.find(name); found != entries_.end()) return found->second;
    if (name.rfind('.') == std::string_view::npos) return {};
  }
}

unsigned access_bytes(std::string_view mnemonic) {
  unsigned bytes = 4;
  any_modifier(mnemonic, [&](std::string_view part) {
    const unsigned bits = number_of(part.starts_with('U') || part.starts_with('S') ? part.substr(1) : part);
    if (bits < 8 || bits > 256 || bits % 8 != 0) return false;
    bytes = bits / 8;
    return true;
  });
  return bytes;
}

ptx::Inst decode(const Meaning& meaning, std::string_view mnemonic) {
  ptx::Inst inst;
  inst.op = meaning.op;
  inst.op_class = meaning.op_class;
  inst.type = meaning.type;
  if (meaning.op_class == OpClass::convert && is_of_64_bits(mnemonic)) inst.op_class = OpClass::convert64;
  ptx::Mods& mods = inst.mods;
  mods.space = meaning.space;
  switch (meaning.op) {
    case Op::bar:
      mods.bar = has(mnemonic, "ARV")   ? ptx::BarMode::arrive
                 : has(mnemonic, "RED") ? ptx::BarMode::red_and
                                        : ptx::BarMode::sync;
      break;
    case Op::membar:
      mods.scope = has(mnemonic, "CTA")   ? ptx::Scope::cta
                   : has(mnemonic, "SYS") ? ptx::Scope::sys
                                          : ptx::Scope::gpu;
      break;
    case Op::ld:
    case Op::st:
      if (meaning.space == Space::global || meaning.space == Space::generic) {
        if (has(mnemonic, "STRONG")) {
          mods.order = ptx::MemOrder::relaxed;
          const bool block = has(mnemonic, "CTA") || has(mnemonic, "SM");
          mods.scope = block ? ptx::Scope::cta : has(mnemonic, "GPU") ? ptx::Scope::gpu : ptx::Scope::sys;
        }
        if (has(mnemonic, "CONSTANT") || has(mnemonic, "CI")) mods.cache = ptx::CacheOp::nc;
      }
      break;
    case Op::cp_async:
      mods.copy_bytes = static_cast<std::uint8_t>(access_bytes(mnemonic));
      if (has(mnemonic, "BYPASS")) mods.cache = ptx::CacheOp::cg;
      break;
    default: break;
  }
  return inst;
}

}  // namespace simtlab::machine
