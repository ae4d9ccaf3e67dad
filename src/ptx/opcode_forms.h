// The table of opcodes.cpp in the form that matching an instruction's text wants.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "ptx/opcodes.h"

namespace simtlab::ptx {

using Words = std::vector<std::string_view>;
Words split(std::string_view s, char separator);
// The type that a word of an opcode names; Type::none if it names none.
Type type_of(std::string_view word);

using Group = FormGroup;

struct Compiled {
  const Form* form = nullptr;
  std::vector<Group> groups;
  std::vector<OperandSpec> operands;
};

// Forms by the first word of their opcode.
using FormIndex = std::map<std::string_view, std::vector<Compiled>>;
// Made once, never changed.
const FormIndex& compiled_forms();

}  // namespace simtlab::ptx
