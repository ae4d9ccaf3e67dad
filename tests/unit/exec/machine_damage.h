// Machine code that no assembler made: words drawn at random, and files with other code than they had.
// Whatever they hold, loading and executing them ends: with Error, at an instruction limit, or as a program
// does.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>

#include "machine/forms.h"

namespace simtlab::exec::damage {

// A word of the form: its opcode, fields with values that it names, any operands, any control information.
machine::Word draw_word(const machine::Form& form, std::mt19937_64& random);

// `cubin` with these words as the code of its first kernel, exits behind them. Words that do not fit are left
// out.
std::string with_code(std::string cubin, std::span<const machine::Word> words);

enum class End : std::uint8_t { refused, stopped, finished };
// Loads the cubin and executes each kernel with addresses of a buffer as its parameters, a few thousand
// instructions of each: not loaded, ended by an error, ended.
End execute(const std::string& cubin);

}  // namespace simtlab::exec::damage
