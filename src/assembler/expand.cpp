#include "assembler/expand.h"
namespace simtlab::assembler {
bool expand(ptx::VirtualFunction&, unsigned, std::string&) { return true; }
}  // namespace simtlab::assembler
