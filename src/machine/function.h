// A kernel of an image as a function of a module.
#pragma once

#include "machine/image.h"
#include "machine/symbols.h"
#include "machine/views.h"
#include "ptx/module.h"

namespace simtlab::machine {

// What the file says beside the code.
ptx::Function header_of(const Image& image, const ImageKernel& kernel);
// Decodes, links and translates its code; `function` is what header_of() made. Throws Error: bad_input
// "cubin", unsupported "machine-instruction", "machine-unresolved".
void complete(ptx::Function& function, const Image& image, const ImageKernel& kernel, const Symbols& symbols,
              Views& views);

}  // namespace simtlab::machine
