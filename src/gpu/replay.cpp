// What a trace recorded, done again.
#include "stream/trace/replay.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "gpu/impl.h"
#include "stream/trace/reader.h"

namespace simtlab::gpu {

using stream::trace::Operation;
using stream::trace::OpKind;

void Gpu::replay(stream::trace::Reader& trace) {
  trace.rewind();
  while (const std::optional<Operation> operation = trace.next()) impl_->apply(*operation, trace);
  impl_->schedule.synchronize();  // what was recorded may end without a call that waits
}

// What the host wrote to device memory by the copy or fill that follows.
std::function<void()> Gpu::Impl::replayed_write() {
  if (replayed_writes.empty()) return {};
  return [this, writes = std::exchange(replayed_writes, {})] {
    for (const auto& [address, bytes] : writes) invalidate(address, bytes);
  };
}

void Gpu::Impl::apply(const Operation& op, const stream::trace::Reader& trace) {
  const auto require = [&](bool known, const char* what) {
    if (!known)
      trace.damaged(0, fmt::format("an operation of kind {} names {} that does not exist",
                                   static_cast<int>(op.kind), what));
  };
  const bool on_stream = op.kind <= OpKind::fill || op.kind == OpKind::destroy_stream ||
                         op.kind == OpKind::record_event || op.kind == OpKind::wait_event ||
                         (op.kind == OpKind::synchronize && op.flag);
  if (on_stream) require(schedule.has_stream(op.stream), "a stream");
  const auto event = static_cast<EventId>(op.a);
  if (op.kind >= OpKind::destroy_event && op.kind <= OpKind::wait_event)
    require(op.a == event && schedule.has_event(event), "an event");
  switch (op.kind) {
    case OpKind::kernel: {
      auto job = std::make_shared<KernelJob>();
      job->source = std::make_unique<stream::trace::ReplayedLaunch>(trace, op.kernel);
      job->batched = op.flag;
      timing::fit(device, *job->source, registers_of(options, job->source->function()));
      submit_kernel(std::move(job), op.stream);
      break;
    }
    case OpKind::copy:
      require(op.b <= 2, "a direction");
      charge(op.a, static_cast<CopyKind>(op.b), op.stream, op.flag, replayed_write());
      break;
    case OpKind::fill: charge_fill(op.a, op.stream, op.flag, replayed_write()); break;
    case OpKind::invalidate:
      recorder.note(OpKind::invalidate, {.a = op.a, .b = op.b});
      replayed_writes.emplace_back(op.a, op.b);
      break;
    case OpKind::create_stream:
      schedule.create_stream(op.flag, static_cast<int>(std::min<std::uint64_t>(op.a, most_priority)));
      break;
    case OpKind::destroy_stream: schedule.destroy_stream(op.stream); break;
    case OpKind::synchronize: op.flag ? schedule.synchronize(op.stream) : schedule.synchronize(); break;
    case OpKind::create_event: schedule.create_event(); break;
    case OpKind::destroy_event: schedule.destroy_event(event); break;
    case OpKind::record_event: schedule.record(event, op.stream); break;
    case OpKind::wait_host: schedule.synchronize_event(event); break;
    case OpKind::wait_event: schedule.wait(op.stream, event); break;
    case OpKind::reset: schedule.reset(); break;
    case OpKind::peak: memory.set_peak(op.a); break;
    case OpKind::count_: break;
  }
}

}  // namespace simtlab::gpu
