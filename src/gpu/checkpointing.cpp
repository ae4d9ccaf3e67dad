// Launches of a run that writes a checkpoint or goes on from one.
#include <fmt/format.h>

#include "base/hash.h"
#include "gpu/impl.h"

namespace simtlab::gpu {
namespace {

std::string shape(const exec::Dim3& d) {
  return fmt::format("({}, {}, {})", d.x, d.y, d.z);
}

}  // namespace

Checkpoint::Launch Gpu::Impl::describe(const stream::WarpSource& launch, const exec::Launch* executed, StreamId stream) const {
  Checkpoint::Launch out;
  out.kernel = launch.function().name;
  out.traits = {{"the grid", shape(launch.grid())},
                {"the block", shape(launch.block())},
                {"the shared memory", fmt::format("{} bytes", launch.shared_bytes())},
                {"the stream", fmt::format("{}", stream)}};
  if (const std::shared_ptr<const std::string>& text = launch.module().text) out.traits.emplace_back("the code", "PTX with the hash " + hash_bytes(*text));
  if (executed == nullptr) return out;
  const std::span<const std::byte> arguments = executed->params().params;
  out.traits.emplace_back("the value of the arguments",
                          "bytes with the hash " + hash_bytes({reinterpret_cast<const char*>(arguments.data()), arguments.size()}));
  return out;
}

std::optional<result::KernelResult> Gpu::Impl::resumed_or_run(const stream::WarpSource& launch, const exec::Launch* executed, StreamId stream, bool timed) {
  const Checkpoint::Machine machine{memory, heap, timing.get()};
  Checkpoint::Launch description = describe(launch, executed, stream);
  if (std::optional<Checkpoint::Replayed> known = checkpoint->before(description, machine)) {
    checkpoint->apply(machine);
    if (options.print && !known->printed.empty()) options.print(known->printed);
    return std::move(known->result);
  }
  printed.clear();
  std::optional<result::KernelResult> result = run_chosen(launch, executed, stream, timed);
  checkpoint->after(description, result ? &*result : nullptr, printed, machine);
  return result;
}

void Gpu::finish_checkpoint(bool ended) {
  if (!impl_->checkpoint) return;
  const std::unique_ptr<Checkpoint> last = std::move(impl_->checkpoint);
  last->finish(ended);
}

}  // namespace simtlab::gpu
