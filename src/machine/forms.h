// The instruction forms of Maxwell to Hopper as data: what each bit of a word means. data/machine has the
// tables.
//
// A form is a mnemonic with one kind of operands (FFMA of three registers, FFMA with a constant in B ...). A
// word belongs to a form if its opcode is the form's, every field has a value that the form names, and no bit
// is set that the form does not explain.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/bundles.h"
#include "machine/name.h"
#include "machine/word.h"

namespace simtlab::machine {

// Bits of a word that make one number; the first piece is the low part.
struct Bits {
  struct Piece {
    std::uint8_t first = 0, width = 0;
  };
  std::array<Piece, 2> pieces{};

  unsigned width() const { return pieces[0].width + pieces[1].width; }
  std::uint64_t of(Word word) const {
    const std::uint64_t low = word.bits(pieces[0].first, pieces[0].width);
    return pieces[1].width == 0 ? low : low | word.bits(pieces[1].first, pieces[1].width) << pieces[0].width;
  }
  void mark(Word& mask) const {
    for (const Piece& p : pieces) mask.set(p.first, p.width);
  }
};

enum class OperandKind : std::uint8_t {
  reg,          // R0 to R254, RZ = 255
  ureg,         // UR0 to UR62, URZ = 63
  pred,         // P0 to P6, PT = 7
  upred,        // UP0 to UP6, UPT = 7
  immediate,    // a number as wide as its bits
  constant,     // c[bank][offset], with a register in the offset where the form has one
  bindless,     // cx[UR][offset]: a constant bank by its descriptor
  memory,       // [register + uniform register + offset]
  barrier,      // convergence barrier B0 to B15
  special,      // special register
  target,       // code address, relative to the next instruction, in units of 4 bytes
  absolute,     // code address, absolute, in units of 4 bytes
  predicates,   // PR: all predicates of a thread
  flags,        // CC: the flags of a sum
  upredicates,  // UPR: all uniform predicates of a warp
  descriptor,   // of a cache policy: uniform register
  number,       // of the form, without a syntax of its own
  ignored,      // what stands there has no meaning
};

enum class Immediate : std::uint8_t { plain, signed_, f32, f64, f16x2, any };

inline constexpr std::uint8_t no_bit = 0xff;
inline constexpr unsigned bank_bits = 5, upper_bits_shift = 12;
// Of instructions in bundles
inline constexpr unsigned first_bundled_opcode_bit = 48;

// The guard: a predicate in three bits, then its `!`.
constexpr unsigned first_guard_bit(unsigned generation) { return in_bundles(generation) ? 16 : 12; }

// Where an operand and its modifiers stand. Places of single bits; no_bit: it has none.
struct OperandForm {
  std::string name;
  OperandKind kind = OperandKind::ignored;
  Bits bits;
  std::uint8_t negate = no_bit, absolute = no_bit, invert = no_bit, negate_pred = no_bit;
  std::uint8_t half =
      no_bit;  // 2 bits: of f16x2 sources: 0 both as they are, 1 f32, 2 low twice, 3 high twice
  std::uint8_t part = no_bit;  // 2 bits: which byte or half of the register is converted
  // Addresses and constants: 8 bits of a register, 6 of a uniform one
  std::uint8_t base = no_bit, uniform = no_bit;
  std::uint8_t wide = no_bit;   // the address is 64 bits wide
  std::uint8_t pair = no_bit;   // the register of the address is a pair, beside a uniform register
  std::uint8_t scale = no_bit;  // 2 bits: the register is multiplied by 1, 4, 8, 16
  std::uint8_t bank = 54;       // bank_bits: number of a constant bank
  Immediate immediate = Immediate::plain;
  bool optional = false;                 // not written if it says nothing (PT, RZ, all lanes ...)
  bool flipped = false;                  // stored as 7 - number
  bool bracket = false, matrix = false;  // written as [URn], gdesc[URn]
  bool register_pair = false;            // two registers hold a code address
  bool in_bytes = false;                 // a code address in units of 1 byte
  bool in_words = false;                 // a constant's offset in units of 4 bytes
  bool upper_bits = false;               // an immediate: the upper 20 of 32 bits
};

// A named modifier. A value without a word is valid and not written.
struct FieldForm {
  std::string id, name;
  Bits bits;
  bool any = false;  // every value is valid
  std::vector<std::pair<std::uint32_t, std::string>> values;

  const std::string* word(std::uint64_t value) const;  // null: not a value
};

struct Instruction;
// A word of a name that depends on several fields.
using ComputedWord = std::string (*)(const Instruction&);

// A word of an instruction's name: one that always stands there, that of a field, or a computed one.
struct NamePart {
  std::string text = {};
  int field = -1;  // index in Form::fields
  ComputedWord computed = nullptr;
};

// How an operand is written, beyond what its kind says (data/machine/syntax.csv).
struct OperandText {
  bool hidden = false;                   // not written
  bool shown = false, optional = false;  // whatever it says; only if it says something
  bool whole = false;                    // which half is taken has no meaning
  bool spaced = false;                   // "c[0x0] [0x10]": a constant that may have a suffix
  std::string suffix;                    // "ROW"
  ComputedWord computed = nullptr;       // suffix
  // Index of a field: its word is a suffix; it stands for ~; for -
  int suffix_field = -1, tilde_field = -1, minus_field = -1;
  // Written only if the field has this value (any but 0 where it is 0), or only if it has none.
  int when_field = -1, unless_field = -1;
  unsigned when_value = 0;
};

enum class Trust : std::uint8_t { high, medium, low, outline };

struct Form {
  std::string mnemonic, form;
  // Bits 0 to 11; of instructions in bundles those of bits 48 to 63 that `opcode_mask` names
  std::uint16_t opcode = 0, opcode_mask = 0;
  bool bit_91 = false;
  std::vector<std::pair<std::uint16_t, std::uint16_t>> generations;  // first and last
  std::vector<OperandForm> operands;
  std::vector<const FieldForm*> fields;
  std::vector<NamePart> name;      // as it is written
  std::vector<OperandText> texts;  // one an operand
  Word explained;                  // the bits that opcode, guard, operands and fields take
  std::uint32_t views = 0;         // bit i: field i says otherwise what operands and fields before it say
  Trust trust = Trust::low;
  bool uniform = false;     // of the uniform datapath: it acts for the warp
  bool unguarded = false;   // the bits of a guard are 0, which says nothing
  std::uint16_t index = 0;  // in Forms::all()

  bool bundled() const { return opcode_mask != 0; }
  bool is_opcode(Word word) const {
    return bundled() ? (word.bits(first_bundled_opcode_bit, 16) & opcode_mask) == opcode
                     : word.bits(0, 12) == opcode && word.bit(91) == bit_91;
  }
  bool has(unsigned generation) const;
  // Index of a field by its name (FieldForm::name), of an operand; -1: none.
  int field(Name name) const;
  int operand(Name name) const;
  // Their names' numbers; set when the form is whole.
  std::vector<std::uint32_t> field_names, operand_names;
};

// Binary versions that are decoded: 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90.
bool is_decoded(unsigned generation);
inline constexpr std::string_view decoded_generations =
    "50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89 and 90";
// Those, and 20, 21, 30, 32, 35, 37, whose files are not read.
bool is_assembled(unsigned generation);
inline constexpr std::string_view assembled_generations =
    "20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89 and 90";
// Whether instructions say when the next one may issue. The hardware of Fermi and Kepler looks itself; what
// Kepler's control words say beside is not made.
constexpr bool has_control(unsigned generation) { return generation >= 50; }

class Forms {
 public:
  // The shipped tables; read once. Throws Error(bad_input, "machine-forms") if they are damaged.
  static const Forms& shipped();
  // From the texts of forms.csv, fields.csv and syntax.csv.
  Forms(std::string_view forms, std::string_view fields, std::string_view syntax);

  std::span<const Form> all() const { return forms_; }
  // Those that the word may be of; the caller asks is_opcode() and has().
  std::span<const Form* const> candidates(unsigned generation, Word word) const;

 private:
  std::vector<FieldForm> fields_;
  std::vector<Form> forms_;
  std::vector<const Form*> sorted_;
  // Of sorted_: by opcode * 2 + bit 91, then, for instructions in bundles, by their upper bits
  std::vector<std::uint32_t> starts_;
};

}  // namespace simtlab::machine
