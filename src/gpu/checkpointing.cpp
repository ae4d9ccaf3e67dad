// Launches of a run that writes a checkpoint or goes on from one.
#include <fmt/format.h>

#include "base/hash.h"
#include "gpu/impl.h"

namespace simtlab::gpu {
namespace {

std::string shape(const exec::Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

}  // namespace

Checkpoint::Launch Gpu::Impl::describe(const KernelJob& job) const {
  const stream::WarpSource& launch = *job.source;
  Checkpoint::Launch out;
  out.kernel = launch.function().name;
  out.traits = {{"the grid", shape(launch.grid())},
                {"the block", shape(launch.block())},
                {"the shared memory", fmt::format("{} bytes", launch.shared_bytes())},
                {"the stream", fmt::format("{}", job.stream)}};
  if (const std::shared_ptr<const std::string>& text = launch.module().text)
    out.traits.emplace_back("the code", "PTX with the hash " + hash_bytes(*text));
  if (!job.launch) return out;
  const std::span<const std::byte> arguments = job.launch->params().params;
  out.traits.emplace_back(
      "the value of the arguments",
      "bytes with the hash " +
          hash_bytes({reinterpret_cast<const char*>(arguments.data()), arguments.size()}));
  return out;
}

// A kernel begins, and no other one runs. None: it is to be run. Else the file that is resumed says what it
// did; true: it has ended at once.
std::optional<bool> Gpu::Impl::resumed(Work& work, double at_ns) {
  KernelJob& job = job_of(work);
  job.description = describe(job);
  printed.clear();
  job.known = checkpoint->before(job.description, machine());
  if (!job.known) return std::nullopt;
  under_way.push_back(&work);
  period_ns = work.begin_ns = at_ns;
  if (timing && job.known->result) return false;
  end_resumed(at_ns);
  return true;
}

// Its effects come at its end, as they did: copies beside it find what they found.
Work* Gpu::Impl::advance_resumed(double until_ns) {
  Work& work = *under_way.front();
  const double end_ns = work.begin_ns + job_of(work).known->result->metrics.get("gpu.time").value_or(0);
  if (end_ns > until_ns) return nullptr;
  end_resumed(end_ns);
  return &work;
}

void Gpu::Impl::end_resumed(double end_ns) {
  Work& work = *under_way.front();
  KernelJob& job = job_of(work);
  under_way.clear();
  const Checkpoint::Replayed known = std::move(*job.known);
  job.known.reset();
  checkpoint->apply(machine());
  if (options.print && !known.printed.empty()) options.print(known.printed);
  work.end_ns = end_ns;
  if (known.result) keep(job, result::KernelResult(*known.result), work.begin_ns);
}

void Gpu::finish_checkpoint(bool ended) {
  if (!impl_->checkpoint) return;
  const std::unique_ptr<Checkpoint> last = std::move(impl_->checkpoint);
  last->finish(ended);
}

}  // namespace simtlab::gpu
