// Kernels on a GPU that other processes use too: they take effect when they begin, and are timed there.
#include <algorithm>

#include "base/error.h"
#include "gpu/impl.h"
#include "gpu/shared_device.h"
#include "stream/trace/writer.h"

namespace simtlab::gpu {

void Gpu::check() const {
  if (impl_->options.shared) impl_->options.shared->check();
}

void Gpu::Impl::begin_shared(Work& work, double at_ns) {
  KernelJob& job = job_of(work);
  const std::filesystem::path path = options.shared->trace_file();
  {
    stream::trace::Writer writer(path, device.name);
    const auto place = writer.reserve_kernel(job.stream);
    stream::trace::RecordingLaunch recording(job.read(), writer, place);
    run_to_end(*make_stepped_run(
        recording, {.interrupt = options.interrupt, .resident_blocks = resident_blocks(recording)}));
    recording.finish();
    writer.close();
  }
  job.id = options.shared->begin(path, job.setup, at_ns);
  under_way.push_back(&work);
}

Work* Gpu::Impl::advance_shared(double until_ns) {
  std::optional<SharedDevice::Ended> ended = options.shared->advance(until_ns);
  if (!ended) return nullptr;
  const auto at = std::ranges::find_if(under_way, [&](Work* work) { return job_of(*work).id == ended->id; });
  if (at == under_way.end())
    throw Error(ExitCode::failure, "corun-device", "the shared GPU tells of a launch that it was not given");
  Work& work = **at;
  under_way.erase(at);
  KernelJob& job = job_of(work);
  if (job.recording) job.recording->finish();
  work.begin_ns = ended->begin_ns;
  work.end_ns = ended->end_ns;
  keep(job, std::move(ended->result), work.begin_ns);
  return &work;
}

}  // namespace simtlab::gpu
