// Sources: Mesa's NAK, sm75_instr_latencies.rs and sm80_instr_latencies.rs (commits 63a9a5e9 and 2f49b19d),
// scheduling data that NVIDIA gave to Mesa. The first holds for Turing, the second for Ampere and Ada. For
// Volta and Hopper there is no table, but tools/stall_distances.py says what the vendor's compiler leaves: on
// Volta what it leaves on Turing, on Hopper what it leaves on Ampere, but for results of double precision,
// which have a fixed latency there. Where a table tells operands of one reader apart, the smallest.
#include "machine/latency.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace simtlab::machine {
namespace {

constexpr auto writers = static_cast<std::size_t>(ResultSource::count_);
constexpr auto readers = static_cast<std::size_t>(ResultReader::count_);
using Row = std::array<std::uint8_t, readers>;
using Table = std::array<Row, writers>;

// Columns: alu fma wide half fp64 variable memory uniform guard
constexpr Row late_uniform = {6, 6, 6, 6, 6, 9, 9, 4, 9}, early_uniform = {2, 2, 2, 2, 2, 2, 2, 2, 2};
constexpr Row scoreboard = {1, 1, 1, 1, 1, 1, 1, 1, 1};

// Maxwell and Pascal: tools/stall_distances.py
constexpr Row six = {6, 6, 6, 6, 6, 2, 2, 6, 13}, of_predicates = {13, 13, 13, 13, 13, 13, 13, 13, 13};
constexpr Table maxwell = {{six, six, six, six, six, six, six, six, six, six, scoreboard}};
constexpr Table maxwell_predicates = {{of_predicates, of_predicates, of_predicates, of_predicates,
                                       of_predicates, of_predicates, of_predicates, of_predicates,
                                       of_predicates, of_predicates, scoreboard}};
constexpr Table turing = {{
    {4, 5, 3, 6, 6, 6, 8, 6, 4},  // alu
    {5, 4, 2, 6, 6, 6, 8, 6, 4},  // fma
    {3, 2, 2, 6, 6, 6, 8, 6, 4},  // wide_low
    {5, 4, 2, 6, 6, 6, 8, 6, 4},  // wide_high
    {8, 8, 6, 6, 8, 8, 8, 8, 8},  // half
    {8, 8, 6, 6, 8, 8, 8, 8, 8},  // half_pair
    {9, 9, 7, 9, 8, 9, 9, 9, 9},  // fp64
    {6, 6, 4, 6, 6, 6, 8, 6, 6},  // dispatch_64
    late_uniform,
    early_uniform,
    scoreboard,
}};
constexpr Table ampere = {{
    {4, 5, 3, 5, 6, 4, 5, 4, 4},     // alu
    {5, 4, 2, 5, 6, 4, 5, 4, 4},     // fma
    {3, 2, 2, 3, 6, 4, 5, 4, 4},     // wide_low
    {5, 4, 2, 5, 6, 4, 5, 4, 4},     // wide_high
    {5, 5, 3, 4, 6, 4, 5, 4, 4},     // half
    {10, 10, 8, 10, 6, 6, 7, 6, 6},  // half_pair
    {10, 10, 8, 10, 6, 6, 7, 6, 6},  // fp64
    {6, 6, 4, 6, 6, 4, 5, 4, 4},     // dispatch_64
    late_uniform,
    early_uniform,
    scoreboard,
}};
constexpr Table hopper = [] {
  Table t = ampere;
  t[static_cast<std::size_t>(ResultSource::fp64)][static_cast<std::size_t>(ResultReader::fp64)] = 8;
  return t;
}();
// Predicates
constexpr Table turing_predicates = {{
    {4, 5, 5, 12, 12, 12, 12, 12, 12},
    {5, 4, 2, 12, 12, 12, 12, 12, 12},
    {5, 4, 2, 12, 12, 12, 12, 12, 12},
    {5, 4, 2, 12, 12, 12, 12, 12, 12},
    {8, 8, 8, 6, 14, 14, 14, 14, 14},
    {8, 8, 8, 6, 14, 14, 14, 14, 14},
    {9, 9, 9, 15, 8, 15, 15, 15, 15},
    {4, 5, 5, 12, 12, 12, 12, 12, 12},
    late_uniform,
    early_uniform,
    scoreboard,
}};
constexpr Table ampere_predicates = {{
    {4, 5, 5, 4, 13, 13, 13, 13, 13},
    {5, 4, 4, 4, 13, 13, 13, 13, 13},
    {5, 4, 4, 4, 13, 13, 13, 13, 13},
    {5, 4, 4, 4, 13, 13, 13, 13, 13},
    {5, 5, 5, 5, 13, 13, 13, 13, 13},
    {6, 6, 6, 6, 6, 14, 14, 14, 14},
    {6, 6, 6, 6, 6, 14, 14, 14, 14},
    {4, 5, 5, 4, 13, 13, 13, 13, 13},
    late_uniform,
    early_uniform,
    scoreboard,
}};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// Without modifiers: "IMAD" of "IMAD.WIDE".
std::string_view base_of(const Instruction& instruction) {
  const std::string_view name = instruction.mnemonic();
  return name.substr(0, name.find('.'));
}

bool is_half(std::string_view base) {
  constexpr std::string_view names[] = {"HFMA2", "HADD2", "HMUL2", "HSET2", "HSETP2", "HMNMX2"};
  return is_one_of(base, names);
}

bool is_fma(std::string_view base) {
  constexpr std::string_view names[] = {"FFMA",  "FADD",  "FMUL", "FSWZADD", "IMAD",    "IDP",
                                        "IDP4A", "VIADD", "XMAD", "FFMA32I", "FADD32I", "FMUL32I"};
  return is_one_of(base, names);
}

bool is_fp64(std::string_view base) {
  constexpr std::string_view names[] = {"DADD", "DMUL", "DFMA", "DSETP", "DMNMX"};
  return is_one_of(base, names);
}

// Its address unit, or that of shared memory
bool goes_to_memory(std::string_view base) {
  constexpr std::string_view names[] = {"LD",  "LDG",  "LDS",   "LDL",    "LDSM",  "ST",     "STG",
                                        "STS", "STL",  "ATOM",  "ATOMG",  "ATOMS", "RED",    "SHFL",
                                        "BAR", "CCTL", "CCTLL", "LDGSTS", "LDSLK", "STSCUL", "STSUL"};
  return is_one_of(base, names);
}

bool is_variable(std::string_view base) {
  constexpr std::string_view names[] = {"MUFU", "RRO",  "POPC", "FLO",   "BREV", "F2F",  "F2I", "I2F",
                                        "FRND", "LDC",  "S2R",  "MATCH", "QSPC", "FCHK", "B2R", "BMOV",
                                        "R2UR", "S2UR", "I2I",  "TEX",   "TLD",  "REDUX"};
  return is_one_of(base, names);
}

bool is_branch(std::string_view base) {
  constexpr std::string_view names[] = {"BRA", "SYNC", "BRK",  "CONT", "BRX",      "BRXU",
                                        "JMP", "JMX",  "CALL", "RET",  "WARPSYNC", "BREAK"};
  return is_one_of(base, names);
}

}  // namespace

bool is_wide_product(const Instruction& instruction) {
  const std::string_view name = instruction.mnemonic();
  return name.starts_with("IMAD.WIDE") || name.starts_with("IMAD.HI");
}

InOrder unit_of(const Instruction& instruction) {
  const std::string_view base = base_of(instruction);
  constexpr std::string_view special[] = {"MUFU", "RRO", "I2I", "POPC", "FLO",
                                          "BREV", "F2F", "F2I", "I2F",  "FRND"};
  if (is_one_of(base, special)) return InOrder::special;
  if (!goes_to_memory(base) || base == "BAR" || base == "CCTL" || base == "CCTLL") return InOrder::none;
  constexpr std::string_view shared[] = {"LDS", "LDSM", "STS", "ATOMS", "SHFL", "LDSLK", "STSCUL", "STSUL"};
  return is_one_of(base, shared) ? InOrder::shared : InOrder::global;
}

namespace {

unsigned number_in(const Instruction& instruction, std::string_view operand) {
  const int at = instruction.form->operand(Name(operand));
  return at < 0 ? 0 : static_cast<unsigned>(instruction.operands[static_cast<std::size_t>(at)].value);
}

}  // namespace

unsigned waited_scoreboards(const Instruction& instruction) {
  return instruction.mnemonic() == "DEPBAR" ? number_in(instruction, "mask") : 0;
}

PartialWait partial_wait(const Instruction& instruction) {
  if (instruction.mnemonic() != "DEPBAR" || instruction.field("le") == 0) return {};
  return {static_cast<std::uint8_t>(number_in(instruction, "SB") & 7u),
          static_cast<std::uint8_t>(number_in(instruction, "cnt"))};
}

ResultSource source_of(const Instruction& instruction, bool second_register) {
  const std::string_view base = base_of(instruction), name = instruction.mnemonic();
  // On Hopper its result has a fixed latency
  if (base == "R2UR" && instruction.control.write_barrier > 5) return ResultSource::uniform_move;
  if (instruction.control.write_barrier < 6 || goes_to_memory(base) || is_variable(base))
    return ResultSource::variable;
  if (is_fp64(base)) return ResultSource::fp64;
  if (is_half(base))
    return name.find(".MMA") != std::string_view::npos ? ResultSource::half_pair : ResultSource::half;
  if (is_wide_product(instruction))
    return second_register || name.starts_with("IMAD.HI") ? ResultSource::wide_high : ResultSource::wide_low;
  if (is_fma(base)) return ResultSource::fma;
  if (base == "ULDC" || base == "UMOV" || base == "VOTEU") return ResultSource::uniform_move;
  if (instruction.form->uniform) return ResultSource::uniform;
  if (base == "CS2R" && instruction.field("w64") != 0) return ResultSource::dispatch_64;
  return ResultSource::alu;
}

ResultReader reader_of(const Instruction& instruction) {
  const std::string_view base = base_of(instruction);
  if (goes_to_memory(base)) return ResultReader::memory;
  if (is_variable(base) || is_branch(base)) return ResultReader::variable;
  if (is_fp64(base)) return ResultReader::fp64;
  if (is_half(base)) return ResultReader::half;
  if (is_wide_product(instruction)) return ResultReader::wide;
  if (is_fma(base)) return ResultReader::fma;
  if (instruction.form->uniform) return ResultReader::uniform;
  return ResultReader::alu;
}

ResultReader predicate_reader_of(const Instruction& instruction) {
  constexpr std::string_view votes[] = {"VOTE", "VOTEU"};
  const std::string_view base = base_of(instruction);
  return is_branch(base) || is_one_of(base, votes) ? ResultReader::guard : reader_of(instruction);
}

unsigned register_latency(unsigned generation, ResultSource writer, ResultReader reader) {
  const Table& table = generation < 70   ? maxwell
                       : generation < 80 ? turing
                       : generation < 90 ? ampere
                                         : hopper;
  return table[static_cast<std::size_t>(writer)][static_cast<std::size_t>(reader)];
}

unsigned predicate_latency(unsigned generation, ResultSource writer, ResultReader reader) {
  const Table& table = generation < 70   ? maxwell_predicates
                       : generation < 80 ? turing_predicates
                                         : ampere_predicates;
  return table[static_cast<std::size_t>(writer)][static_cast<std::size_t>(reader)];
}

unsigned uniform_latency(ResultSource writer, ResultReader reader) {
  const bool fixed = writer == ResultSource::uniform || writer == ResultSource::uniform_move;
  return ampere[static_cast<std::size_t>(fixed ? writer : ResultSource::uniform)]
               [static_cast<std::size_t>(reader)];
}

}  // namespace simtlab::machine
