// How instructions are written: data/machine/syntax.csv.
#pragma once

#include <string_view>
#include <vector>

#include "machine/forms.h"

namespace simtlab::machine {

// Sets name and texts of every form. A form without a row is written as its mnemonic and the words of its
// fields in their order. Throws Error(bad_input, "machine-forms").
void add_syntax(std::string_view table, std::vector<Form>& forms);

// The computed words by their name in the table; null: none.
ComputedWord computed_word(std::string_view name);

}  // namespace simtlab::machine
