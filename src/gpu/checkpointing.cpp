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

Checkpoint::Launch Gpu::Impl::describe(const KernelJob& job) const {
  const stream::WarpSource& launch = *job.source;
  Checkpoint::Launch out;
  out.kernel = launch.function().name;
  out.traits = {{"the grid", shape(launch.grid())},
                {"the block", shape(launch.block())},
                {"the shared memory", fmt::format("{} bytes", launch.shared_bytes())},
                {"the stream", fmt::format("{}", job.stream)}};
  if (const std::shared_ptr<const std::string>& text = launch.module().text) out.traits.emplace_back("the code", "PTX with the hash " + hash_bytes(*text));
  if (!job.launch) return out;
  const std::span<const std::byte> arguments = job.launch->params().params;
  out.traits.emplace_back("the value of the arguments",
                          "bytes with the hash " + hash_bytes({reinterpret_cast<const char*>(arguments.data()), arguments.size()}));
  return out;
}

// A kernel begins, and no other one runs. True: the file that is resumed says what it did.
bool Gpu::Impl::resumed(Work& work, double at_ns) {
  KernelJob& job = job_of(work);
  job.description = describe(job);
  printed.clear();
  std::optional<Checkpoint::Replayed> known = checkpoint->before(job.description, machine());
  if (!known) return false;
  checkpoint->apply(machine());
  if (options.print && !known->printed.empty()) options.print(known->printed);
  if (!known->result) return true;
  work.end_ns = at_ns + known->result->metrics.get("gpu.time").value_or(0);
  keep(job, std::move(*known->result), at_ns);
  return true;
}

void Gpu::finish_checkpoint(bool ended) {
  if (!impl_->checkpoint) return;
  const std::unique_ptr<Checkpoint> last = std::move(impl_->checkpoint);
  last->finish(ended);
}

}  // namespace simtlab::gpu
