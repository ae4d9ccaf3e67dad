#include "check/ordered_memory.h"

#include <algorithm>
#include <utility>

#include "check/host_work.h"

namespace simtlab::check {
namespace {

constexpr const char* rule = "memory.use-after-free";

}  // namespace

void OrderedMemory::used(Findings& findings, Allocation& allocation, Use use, const std::string& memory) {
  if (!use.by.comes_after(allocation.allocated)) {
    if (result::Finding* const found = findings.add(rule, use.at)) {
      found->message = "memory is used that a stream-ordered allocation may not have given yet";
      found->accesses.push_back(use.access);
      found->memory = memory;
      add_missing_stream_order(*found);
      found->hint = "record an event behind cudaMallocAsync(), and let the stream of the use wait for it";
    }
  }
  // Of a stream the last one comes behind the others.
  std::erase_if(allocation.uses, [&](const Use& u) { return use.by.comes_after(u.by); });
  allocation.uses.push_back(std::move(use));
}

void OrderedMemory::freed(Findings& findings, const Allocation& allocation, const Submitted& freed,
                          const std::string& memory) {
  for (const Use& use : allocation.uses) {
    if (freed.comes_after(use.by)) continue;
    result::Finding* const found = findings.add(rule, use.at);
    if (found == nullptr) continue;
    found->message = "memory is freed in a stream that does not wait for who uses it";
    found->accesses.push_back(use.access);
    found->memory = memory;
    add_missing_stream_order(*found);
    found->hint = "record an event behind the use, and let the stream of cudaFreeAsync() wait for it";
  }
}

}  // namespace simtlab::check
