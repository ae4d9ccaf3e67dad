#include "find.h"

#include <fmt/format.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace simtlab::models::loops {
namespace {

bool same_file(const llvm::DebugLoc& place, const std::string& file) {
  if (file.empty()) return true;
  return std::filesystem::path(place->getFilename().str()).filename() ==
         std::filesystem::path(file).filename();
}

std::vector<unsigned> lines_of_loops(llvm::Module& module, const std::string& file) {
  std::vector<unsigned> out;
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    llvm::DominatorTree dominators(f);
    llvm::LoopInfo loops(dominators);
    for (const llvm::Loop* l : loops.getLoopsInPreorder())
      if (const llvm::DebugLoc place = l->getStartLoc(); place && same_file(place, file))
        out.push_back(place.getLine());
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

llvm::Loop* find_loop(const llvm::LoopInfo& loops, const Request& request) {
  llvm::Loop* best = nullptr;
  for (llvm::Loop* l : loops.getLoopsInPreorder()) {  // outer loops come before those in them
    const llvm::DebugLoc place = l->getStartLoc();
    if (!place || !same_file(place, request.file) || place.getLine() != request.line) continue;
    if (best == nullptr || l->getLoopDepth() < best->getLoopDepth()) best = l;
  }
  return best;
}

llvm::Function& find_function(llvm::Module& module, Request& request) {
  const std::vector<unsigned> lines = lines_of_loops(module, request.file);
  if (request.first_after) {
    const auto next = std::ranges::lower_bound(lines, request.line);
    if (next != lines.end()) request.line = *next;
  }
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    llvm::DominatorTree dominators(f);
    llvm::LoopInfo loops(dominators);
    if (find_loop(loops, request) != nullptr) return f;
  }
  std::string known;
  for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 20); ++i)
    known += fmt::format("{}{}", i ? ", " : "", lines[i]);
  Refusal r{"loop-missing",
            "no loop begins at this line",
            known.empty() ? "the file has no loop that is compiled"
                          : fmt::format("loops begin at the lines {}", known),
            request.file,
            request.line,
            1};
  throw Refused{{r}};
}

}  // namespace simtlab::models::loops
