#include "gpu/shared_kernels.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "stream/trace/writer.h"

namespace simtlab::gpu {

bool SharedKernels::begin(Work& work, double at_ns) {
  KernelJob& job = job_of(work);
  const std::filesystem::path path = gpu_.trace_file();
  {
    stream::trace::Writer writer(path, device_.name);
    const auto place = writer.reserve_kernel(job.stream);
    stream::trace::RecordingLaunch recording(job.read(), writer, place);
    const std::uint64_t resident = blocks_.resident_blocks(recording);
    blocks_.run(*make_stepped_run(recording, {.interrupt = options_.interrupt, .resident_blocks = resident}));
    recording.finish();
    writer.close();
  }
  job.id = gpu_.begin(path, job.setup, at_ns);
  under_way_.push_back(&work);
  return false;
}

Work* SharedKernels::advance(double until_ns) {
  std::optional<SharedDevice::Ended> ended = gpu_.advance(until_ns);
  if (!ended) return nullptr;
  const auto at = std::ranges::find_if(under_way_, [&](Work* work) { return job_of(*work).id == ended->id; });
  if (at == under_way_.end())
    throw Error(ExitCode::failure, "corun-device", "the shared GPU tells of a launch that it was not given");
  Work& work = **at;
  under_way_.erase(at);
  KernelJob& job = job_of(work);
  if (job.recording) job.recording->finish();
  work.begin_ns = ended->begin_ns;
  work.end_ns = ended->end_ns;
  sink_.keep(job, std::move(ended->result), work.begin_ns);
  return &work;
}

void SharedKernels::give_up() {
  gpu_.give_up();
  under_way_.clear();
}

}  // namespace simtlab::gpu
