// Kernels of PTX that simtlab's assembler made machine code of.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ptx/module.h"
#include "studies/disasm/listing.h"

namespace simtlab::studies {

// A module of PTX whose kernels were assembled, as far as they could be.
struct AssembledModule {
  std::string name;
  unsigned generation = 0;
  std::shared_ptr<const ptx::Module> module;
};

// "sm_80", "80": 80. Throws Error(usage, "option-value") for a generation that the assembler does not make
// code for. option: that gave it.
unsigned assembled_generation(const std::string& architecture, const char* option);

// The PTX that a file holds: one text, or in each fat binary of it the one that a GPU of the generation would
// run. Throws what loading it throws.
std::vector<AssembledModule> assemble_all(const std::string& bytes, const std::string& name,
                                          unsigned generation);

// The kernels whose names contain `kernel`. The module must outlive the result.
ChosenCode choose(const AssembledModule& assembled, const std::string& kernel);

}  // namespace simtlab::studies
