#include "assembler/control_effects.h"

#include <algorithm>
#include <string_view>

#include "machine/views.h"

namespace simtlab::assembler {
namespace {

using machine::OperandKind;
using machine::ResultReader;
using machine::ResultSource;

// Results of double precision come at a time of their own. The vendor's compiler gives them scoreboards where
// an SM has many lanes for it, too, up to Ampere.
bool has_late_fp64(unsigned generation) { return generation < 90 && !(generation >= 60 && generation < 61); }

bool is_fp64_name(std::string_view base) {
  constexpr std::string_view names[] = {"DADD", "DMUL", "DFMA", "DSETP", "DMNMX"};
  return is_one_of_names(base, names);
}

bool is_late(const machine::Instruction& code) {
  const std::string_view base = base_mnemonic(code);
  if (base == "BAR" || base == "CCTL" || base == "CCTLL") return false;
  if (machine::source_of(code, false) == ResultSource::variable) return true;
  if (is_fp64_name(base)) return has_late_fp64(code.generation);
  constexpr std::string_view others[] = {"HMMA",    "IMMA",  "BMMA", "DMMA",  "HGMMA", "IGMMA",
                                         "BGMMA",   "QGMMA", "MOVM", "CLMAD", "STSM",  "LDGMC",
                                         "STAS",    "REDAS", "SULD", "SUST",  "SURED", "SUATOM",
                                         "ARRIVES", "SYNCS", "TXD",  "TLD4",  "TXQ",   "TMML"};
  return is_one_of_names(base, others);
}

bool is_uniform_place(Place place) { return place >= uniform_places && place < place_count; }

// F2F.64, I2F.64 ...: a source or the result is a pair.
bool is_64_bit_conversion(const machine::Instruction& code) { return code.mnemonic().ends_with(".64"); }

// Collects what one instruction touches.
class EffectsBuilder {
 public:
  // program: null if registers have numbers.
  EffectsBuilder(const Instruction& instruction, const Program* program)
      : instruction_(instruction),
        code_(instruction.code),
        reader_(machine::reader_of(code_)),
        predicate_reader_(is_control_flow(base_mnemonic(code_)) ? ResultReader::guard
                                                                : machine::predicate_reader_of(code_)),
        program_(program) {}

  Effects build() {
    effects_.late = is_late(code_);
    effects_.partial = instruction_.guarded();
    if (is_value(instruction_.guard))
      touch(place_of(instruction_.guard), 1, false, true, ResultReader::guard);
    else if (code_.guard != machine::true_predicate)
      effects_.add_read(
          static_cast<Place>((code_.guard_uniform ? uniform_predicate_places : predicate_places) +
                             code_.guard),
          ResultReader::guard);
    for (std::size_t i = 0; i < code_.operand_count(); ++i) {
      const std::size_t before = effects_.read_count();
      add(i);
      if (code_.operands[i].kind == OperandKind::memory) effects_.set_address(before);
    }
    // The flags of a sum stand where later generations have uniform predicates.
    if (code_.form->bundled()) {
      if (code_.field("x") != 0 || base_mnemonic(code_) == "CSET" || base_mnemonic(code_) == "CSETP")
        touch(uniform_predicate_places, 1, false);
      if (code_.field("cc") != 0) touch(uniform_predicate_places, 1, true);
    }
    return effects_;
  }

 private:
  void add(std::size_t i) {
    const machine::Operand& o = code_.operands[i];
    const bool writes = instruction_.is_write(i);
    const Ref& ref = instruction_.refs[i];
    if (is_value(ref)) {
      const bool predicate = o.kind == OperandKind::pred || o.kind == OperandKind::upred;
      touch(place_of(ref), ref.count, writes, predicate, predicate ? predicate_reader_ : reader_);
      if (o.kind == OperandKind::memory || o.kind == OperandKind::constant) add_uniform(i);
      return;
    }
    if (o.kind == OperandKind::memory && is_value(instruction_.beside)) {
      add_beside();
      return;
    }
    const unsigned given = ref ? ref.count : 0;
    switch (o.kind) {
      case OperandKind::reg:
        if (o.number != machine::zero_register)
          touch(o.number, given != 0 ? given : std::max(1u, machine::registers_of(code_, i)), writes);
        break;
      case OperandKind::ureg:
        if (o.number != machine::zero_uniform)
          touch(uniform_places + o.number,
                given != 0 ? given
                           : std::max(is_64_bit_conversion(code_) ? 2u : 1u, machine::registers_of(code_, i)),
                writes);
        break;
      case OperandKind::pred:
      case OperandKind::upred:
        if (o.number == machine::true_predicate) break;
        touch((is_of_warp(i) ? uniform_predicate_places : predicate_places) + unsigned{o.number}, 1, writes,
              true, predicate_reader_);
        break;
      case OperandKind::predicates: touch_all(predicate_places); break;
      case OperandKind::upredicates: touch_all(uniform_predicate_places); break;
      case OperandKind::descriptor:
        if (o.number < machine::zero_uniform) touch(uniform_places + o.number, 2, false);
        break;
      case OperandKind::memory:
      case OperandKind::constant:
      case OperandKind::bindless: add_address(i, given); break;
      default: break;
    }
  }

  // PLOP3 has a place for either.
  bool is_of_warp(std::size_t i) const {
    return code_.operands[i].kind == OperandKind::upred ||
           (code_.form->operands[i].name == "Pc" && code_.field("pc_uniform") != 0);
  }

  void add_address(std::size_t i, unsigned given) {
    const machine::Operand& o = code_.operands[i];
    const machine::OperandForm& form = code_.form->operands[i];
    const bool pair = o.pair || (o.wide && form.uniform == machine::no_bit);
    if (o.base != machine::zero_register) touch(o.base, given != 0 ? given : pair ? 2 : 1, false);
    add_uniform(i);
  }

  void add_beside() { touch(place_of(instruction_.beside), instruction_.beside.count, false); }

  void add_uniform(std::size_t i) {
    const machine::Operand& o = code_.operands[i];
    if (is_value(instruction_.beside)) {
      add_beside();
      return;
    }
    const bool wide = o.wide || o.kind == OperandKind::bindless;
    if (o.uniform != machine::zero_uniform) touch(uniform_places + o.uniform, wide ? 2 : 1, false);
    if (o.described && o.number < machine::zero_uniform) touch(uniform_places + o.number, 2, false);
  }

  bool is_value(const Ref& ref) const { return program_ != nullptr && ref; }
  Place place_of(const Ref& ref) const {
    const Register& r = program_->registers[ref.reg];
    if (r.fixed == Register::anywhere) return place_of_value(ref.reg, ref.part);
    constexpr std::array<Place, 4> first = {0, predicate_places, uniform_places, uniform_predicate_places};
    return first[static_cast<std::size_t>(r.file)] + r.fixed + ref.part;
  }

  void touch(unsigned first, unsigned count, bool writes, bool predicate = false) {
    touch(first, count, writes, predicate, reader_);
  }
  void touch(unsigned first, unsigned count, bool writes, bool predicate, ResultReader reader) {
    for (unsigned k = 0; k < count; ++k) {
      const auto place = static_cast<Place>(first + k);
      if (writes)
        write(place, k > 0, predicate);
      else
        effects_.add_read(place, reader);
    }
  }

  void write(Place place, bool second, bool predicate) {
    Effects::Write w;
    w.place = place;
    w.source = effects_.late ? ResultSource::variable : machine::source_of(code_, second);
    w.predicate = predicate;
    w.uniform =
        (is_uniform_place(place) && !code_.form->bundled()) || (code_.form->uniform && place >= place_count);
    // Of a fixed latency on Hopper, which compiled code leaves.
    if (code_.generation >= 90 && base_mnemonic(code_) == "R2UR") w.least = 13;
    effects_.add_write(w);
  }

  // P2R reads the predicates of a mask, R2P writes them and leaves the others.
  void touch_all(Place first) {
    const bool writes = base_mnemonic(code_) == "R2P" || base_mnemonic(code_) == "UR2UP";
    effects_.partial = effects_.partial || writes;
    touch(first, machine::true_predicate, writes, true);
  }

  const Instruction& instruction_;
  const machine::Instruction& code_;
  const ResultReader reader_, predicate_reader_;
  const Program* const program_;
  Effects effects_;
};

bool moves_128_bits(const machine::Instruction& code) {
  const int size = code.form->field("size");
  return size >= 0 && code.field("size") >= 6;
}

}  // namespace

std::string_view base_mnemonic(const machine::Instruction& code) {
  const std::string_view name = code.mnemonic();
  return name.substr(0, name.find('.'));
}

bool is_one_of_names(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_control_flow(std::string_view base) {
  constexpr std::string_view names[] = {
      "BRA",   "BRX",  "BRXU",     "JMP",   "JMX",  "JMXU",   "CALL",      "RET",           "EXIT", "BSSY",
      "SSY",   "SYNC", "PBK",      "BRK",   "PCNT", "CONT",   "CAL",       "JCAL",          "KIL",  "BSYNC",
      "BREAK", "KILL", "WARPSYNC", "YIELD", "BAR",  "PMTRIG", "NANOSLEEP", "ENDCOLLECTIVE", "PRET"};
  return is_one_of_names(base, names);
}

Effects effects_of(const Instruction& instruction) { return EffectsBuilder(instruction, nullptr).build(); }

Effects value_effects_of(const Program& program, const Instruction& instruction) {
  return EffectsBuilder(instruction, &program).build();
}

unsigned latency_of(unsigned generation, const Effects::Write& write, ResultReader reader) {
  const unsigned cycles = write.source == ResultSource::variable ? 1
                          : write.uniform   ? machine::uniform_latency(write.source, reader)
                          : write.predicate ? machine::predicate_latency(generation, write.source, reader)
                                            : machine::register_latency(generation, write.source, reader);
  return std::max<unsigned>(cycles, write.least);
}

unsigned settled_latency(unsigned generation, const Effects::Write& write) {
  const bool hopper = generation >= 90;
  if ((!hopper && !machine::in_bundles(generation)) || write.source == ResultSource::variable) return 0;
  unsigned most = 0;
  for (unsigned r = 0; r < static_cast<unsigned>(ResultReader::count_); ++r)
    if (const auto reader = static_cast<ResultReader>(r); reader != ResultReader::guard || write.predicate)
      most = std::max(most, latency_of(generation, write, reader));
  if (!hopper || write.predicate) return most;
  // Of registers 7 for 6 and 11 for 10, of uniform ones 12 for 9 and 5 for 2
  return most + (write.uniform ? 3 : 1);
}

unsigned overwrite_latency(unsigned generation, const Effects::Write& first, const Effects::Write& second) {
  if (second.source == ResultSource::variable) return 2;
  unsigned most = 1;
  for (unsigned r = 0; r < static_cast<unsigned>(ResultReader::count_); ++r) {
    const auto reader = static_cast<ResultReader>(r);
    const unsigned old = latency_of(generation, first, reader),
                   young = latency_of(generation, second, reader);
    if (old > young) most = std::max(most, old - young + 1);
  }
  return most;
}

PipeUse pipe_of(const machine::Instruction& code) {
  const std::string_view base = base_mnemonic(code);
  const unsigned generation = code.generation;
  // Of Maxwell and Pascal ptxas leaves no cycles between two instructions for one pipeline.
  if (machine::in_bundles(generation)) return {};
  constexpr std::string_view floats[] = {"FFMA", "FADD", "FMUL", "FSWZADD"};
  if (is_one_of_names(base, floats))
    return {PipeKind::fma, static_cast<std::uint8_t>(generation <= 80 ? 2 : 1)};
  if (base == "IMAD" || base == "IDP" || base == "IDP4A") {
    const bool apart = generation > 80 && generation < 90;
    return {apart ? PipeKind::multiply : PipeKind::fma,
            static_cast<std::uint8_t>(machine::is_wide_product(code) ? 4 : 2)};
  }
  constexpr std::string_view halves[] = {"HFMA2", "HADD2", "HMUL2", "HSET2", "HSETP2", "HMNMX2"};
  if (is_one_of_names(base, halves)) return {PipeKind::half, 2};
  if (is_fp64_name(base)) return {PipeKind::fp64, static_cast<std::uint8_t>(generation >= 90 ? 2 : 4)};
  constexpr std::string_view specials[] = {"MUFU", "POPC", "FLO", "BREV", "F2F", "F2I", "I2F", "FRND"};
  if (is_one_of_names(base, specials)) return {PipeKind::special, 8};
  if (base == "S2R") return {PipeKind::special_register, static_cast<std::uint8_t>(generation >= 90 ? 3 : 4)};
  if (base == "LDC" || (base == "S2UR" && generation >= 90)) return {PipeKind::constant, 8};
  if (base == "CS2R") return {PipeKind::dispatch, static_cast<std::uint8_t>(generation >= 90 ? 2 : 1)};
  if (is_control_flow(base) || base == "NOP") return {};
  if (code.form->uniform) return {PipeKind::uniform, static_cast<std::uint8_t>(generation >= 90 ? 1 : 2)};
  if (machine::unit_of(code) == machine::InOrder::shared ||
      machine::unit_of(code) == machine::InOrder::global) {
    const bool slow = generation == 75 && base == "LDS" && moves_128_bits(code);
    return {PipeKind::memory, static_cast<std::uint8_t>(slow ? 8 : 4)};
  }
  if (is_late(code)) return {};
  return {PipeKind::alu, 2};
}

// ptxas leaves 7 cycles from S2R to LDC and S2UR in its code for sm_90.
PipeUse pipe_beside(const machine::Instruction& code) {
  if (code.generation >= 90 && base_mnemonic(code) == "S2R") return {PipeKind::constant, 7};
  return {};
}

// As in ptxas 12.4's code for 41 files: arithmetic first, then another unit or a branch; one constant at
// most.
bool may_pair(const machine::Instruction& first, const machine::Instruction& second) {
  if (!machine::in_bundles(first.generation)) return false;
  const auto reads_constant = [](const machine::Instruction& code) {
    return std::ranges::any_of(std::span(code.operands).first(code.operand_count()),
                               [](const auto& o) { return o.kind == OperandKind::constant; });
  };
  constexpr std::string_view others[] = {"SYNC", "SSY",   "BRK", "BRA",   "PBK",    "RET",  "MUFU", "LDS",
                                         "STG",  "LDG",   "F2I", "I2F",   "STL",    "S2R",  "LDC",  "ST",
                                         "STS",  "F2F",   "LDL", "BAR",   "DEPBAR", "SHFL", "RED",  "I2I",
                                         "LD",   "DSETP", "TEX", "DMNMX", "EXIT"};
  const std::string_view leader = base_mnemonic(first);
  const bool computes = is_fp64_name(leader)
                            ? leader != "DSETP" && leader != "DMNMX"
                            : !is_late(first) && !is_control_flow(leader) && leader != "MEMBAR";
  return computes && is_one_of_names(base_mnemonic(second), others) &&
         !(reads_constant(first) && reads_constant(second));
}

unsigned least_stall(const machine::Instruction& code) {
  const std::string_view base = base_mnemonic(code);
  const bool old = code.generation <= 75;
  if (machine::in_bundles(code.generation)) {
    if (base == "EXIT" && !code.always()) return 13;
    if (base == "EXIT" || base == "RET" || base == "BAR") return 15;
    constexpr std::string_view pushes[] = {"SSY", "PBK", "PCNT", "PRET"};
    if (is_control_flow(base)) return is_one_of_names(base, pushes) ? 1 : 13;
    return base == "MEMBAR" ? 5 : 1;
  }
  constexpr std::string_view branches[] = {"BRA", "BRX",  "BRXU",  "JMP",  "JMX",  "JMXU",  "CALL",
                                           "RET", "EXIT", "BSYNC", "KILL", "CCTL", "CCTLL", "NANOSLEEP"};
  if (is_one_of_names(base, branches)) return 5;
  if (base == "BAR" || base == "MEMBAR" || base == "CGAERRBAR") return old ? 5 : 6;
  if (base == "WARPSYNC") return old ? 4 : 5;
  if (base == "BREAK" || base == "YIELD") return code.generation >= 90 ? 5 : 1;
  if (base == "DEPBAR") return 4;
  return 1;
}

// Of Maxwell and Pascal: the result takes so long anyway, and ptxas 12.4 has no earlier wait for it in its
// code for 41 files.
unsigned cycles_to_wait(const machine::Instruction& code) {
  if (!machine::in_bundles(code.generation)) return scoreboard_cycles;
  const std::string_view base = base_mnemonic(code);
  if (!code.always()) return scoreboard_cycles;
  if (base == "DSETP" || base == "MUFU") return 13;
  if (is_fp64_name(base)) return 14;
  constexpr std::string_view longest[] = {"LDS", "SHFL", "S2R", "F2F", "F2I", "I2F", "I2I", "LDC"};
  if (is_one_of_names(base, longest)) return 15;
  return base == "LDG" ? 5 : scoreboard_cycles;
}

bool has_fixed_latency_too(const machine::Instruction& code) {
  return code.generation >= 70 && is_fp64_name(base_mnemonic(code)) && has_late_fp64(code.generation);
}

unsigned expected_latency(const machine::Instruction& code) {
  const std::string_view base = base_mnemonic(code);
  constexpr std::string_view global[] = {"LD", "LDG", "LDL", "ATOM", "ATOMG", "TEX", "TLD", "LDGMC"};
  if (is_one_of_names(base, global)) return 200;
  if (is_fp64_name(base)) return 40;
  constexpr std::string_view longer[] = {"LDC", "S2R", "S2UR", "BMOV", "B2R", "MATCH", "REDUX", "QSPC"};
  if (is_one_of_names(base, longer)) return 30;
  return 24;
}

}  // namespace simtlab::assembler
