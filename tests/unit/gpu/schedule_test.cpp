#include "gpu/schedule.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace simtlab::gpu {
namespace {

// Kernels of fixed length; as many at once as it is told. The length stands in Work::duration_ns.
class FixedKernels final : public KernelEngine {
 public:
  explicit FixedKernels(std::size_t most) : most_(most) {}
  bool idle() const override { return running_.empty(); }
  bool full() const override { return running_.size() >= most_; }
  bool begin(Work& work, double at_ns) override {
    if (work.duration_ns < 0) throw std::runtime_error("a kernel that fails");
    work.begin_ns = at_ns;
    work.end_ns = at_ns + work.duration_ns;
    order.push_back(work.number);
    if (work.duration_ns == 0) return true;
    running_.push_back(&work);
    return false;
  }
  Work* advance(double until_ns) override {
    const auto first = std::min_element(running_.begin(), running_.end(),
                                        [](Work* a, Work* b) { return a->end_ns < b->end_ns; });
    if ((*first)->end_ns > until_ns) return nullptr;
    Work* work = *first;
    running_.erase(first);
    return work;
  }
  void give_up() override { running_.clear(); }
  std::vector<std::uint64_t> order;

 private:
  std::size_t most_;
  std::vector<Work*> running_;
};

class Schedules : public testing::Test {
 protected:
  WorkPtr put(Schedule::Stream stream, Engine engine, double duration, double host = 0, bool blocking = false,
              std::function<void()> effect = {}) {
    Work work;
    work.engine = engine;
    work.duration_ns = duration;
    work.effect = std::move(effect);
    return t.submit(stream, std::move(work), host, blocking);
  }
  FixedKernels kernels{2};
  Schedule t{kernels};
};

TEST_F(Schedules, AnAsynchronousOperationDoesNotHoldTheHost) {
  const WorkPtr work = put(0, Engine::kernels, 100, 5);
  EXPECT_DOUBLE_EQ(t.now_ns(), 5);
  EXPECT_FALSE(t.idle());
  t.synchronize();
  EXPECT_DOUBLE_EQ(work->begin_ns, 5);
  EXPECT_DOUBLE_EQ(work->end_ns, 105);
  EXPECT_DOUBLE_EQ(t.now_ns(), 105);
  EXPECT_TRUE(t.idle());
}

TEST_F(Schedules, ABlockingOperationEndsOnTheHostWhenItEndsOnTheDevice) {
  put(0, Engine::copy_in, 40, 0, true);
  EXPECT_DOUBLE_EQ(t.now_ns(), 40);
}

TEST_F(Schedules, OperationsOfOneStreamRunInOrderOnAnyEngine) {
  const auto s = t.create_stream(true);
  put(s, Engine::copy_in, 10);
  const WorkPtr kernel = put(s, Engine::kernels, 10), out = put(s, Engine::copy_out, 10);
  t.run();
  EXPECT_DOUBLE_EQ(kernel->begin_ns, 10);
  EXPECT_DOUBLE_EQ(out->begin_ns, 20);
  EXPECT_DOUBLE_EQ(t.now_ns(), 0);  // the host did not wait
}

TEST_F(Schedules, CopiesOfOneDirectionQueueAndThoseOfTheOtherOverlap) {
  const auto a = t.create_stream(true), b = t.create_stream(true);
  put(a, Engine::copy_in, 50);
  const WorkPtr in = put(b, Engine::copy_in, 20), out = put(t.create_stream(true), Engine::copy_out, 20);
  t.run();
  EXPECT_DOUBLE_EQ(in->begin_ns, 50);
  EXPECT_DOUBLE_EQ(out->begin_ns, 0);
}

// What has to wait does not hold up what is ready.
TEST_F(Schedules, AnEngineTakesWhatIsReadyFirst) {
  const auto a = t.create_stream(true), b = t.create_stream(true);
  put(a, Engine::kernels, 100);
  const WorkPtr late = put(a, Engine::copy_out, 10), soon = put(b, Engine::copy_out, 10);
  t.run();
  EXPECT_DOUBLE_EQ(late->begin_ns, 100);
  EXPECT_DOUBLE_EQ(soon->begin_ns, 0);
}

TEST_F(Schedules, KernelsOfDifferentStreamsRunSideBySideUpToTheLimit) {
  std::vector<WorkPtr> works;
  for (int i = 0; i < 3; ++i) works.push_back(put(t.create_stream(true), Engine::kernels, 100 + 10 * i));
  t.synchronize();
  EXPECT_DOUBLE_EQ(works[0]->begin_ns, 0);
  EXPECT_DOUBLE_EQ(works[1]->begin_ns, 0);
  EXPECT_DOUBLE_EQ(works[2]->begin_ns, 100);  // two at once
  EXPECT_DOUBLE_EQ(t.now_ns(), 220);
}

TEST_F(Schedules, TheDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  const auto blocking = t.create_stream(false), free = t.create_stream(true);
  put(blocking, Engine::copy_in, 30);
  const WorkPtr middle = put(0, Engine::kernels, 10), after = put(blocking, Engine::copy_in, 5),
                beside = put(free, Engine::copy_out, 5);
  t.run();
  EXPECT_DOUBLE_EQ(middle->begin_ns, 30);
  EXPECT_DOUBLE_EQ(after->begin_ns, 40);
  EXPECT_DOUBLE_EQ(beside->begin_ns, 0);
}

TEST_F(Schedules, AnEventTakesTheTimeOfTheWorkBeforeIt) {
  const auto s = t.create_stream(false);
  const auto e = t.create_event();
  EXPECT_FALSE(t.event_time(e).has_value());
  put(s, Engine::kernels, 25);
  t.record(e, s);
  EXPECT_DOUBLE_EQ(t.event_time(e).value(), 25);
  EXPECT_DOUBLE_EQ(t.now_ns(), 0);
  t.synchronize_event(e);
  EXPECT_DOUBLE_EQ(t.now_ns(), 25);
}

TEST_F(Schedules, AWaitHoldsUpTheOtherStream) {
  const auto a = t.create_stream(true), b = t.create_stream(true);
  const auto e = t.create_event();
  t.wait(b, e);  // never recorded: holds nothing up
  put(a, Engine::copy_in, 70);
  t.record(e, a);
  t.wait(b, e);
  const WorkPtr work = put(b, Engine::kernels, 1);
  t.run();
  EXPECT_DOUBLE_EQ(work->begin_ns, 70);
}

TEST_F(Schedules, WorkOfADestroyedStreamStillRunsToItsEnd) {
  const auto s = t.create_stream(false);
  put(s, Engine::copy_in, 70);
  EXPECT_TRUE(t.destroy_stream(s));
  EXPECT_FALSE(t.destroy_stream(s));
  EXPECT_FALSE(t.destroy_stream(0));
  EXPECT_FALSE(t.idle(0));
  const WorkPtr after = put(0, Engine::copy_out, 1);
  t.synchronize();
  EXPECT_DOUBLE_EQ(after->begin_ns, 70);
  EXPECT_TRUE(t.idle(0));
}

// A query lets the device come up to the host's time and no further.
TEST_F(Schedules, AQueryDoesNotWait) {
  const auto s = t.create_stream(true);
  put(s, Engine::kernels, 25);
  EXPECT_FALSE(t.idle(s));
  put(t.create_stream(true), Engine::copy_in, 30, 0, true);  // the host is at 30 now
  EXPECT_TRUE(t.idle(s));
}

TEST_F(Schedules, EffectsHappenInTheOrderOfTime) {
  std::vector<int> order;
  const auto a = t.create_stream(true), b = t.create_stream(true);
  put(a, Engine::copy_in, 50, 0, false, [&] { order.push_back(1); });
  put(b, Engine::copy_out, 20, 0, false, [&] { order.push_back(2); });
  put(b, Engine::kernels, 5, 0, false, [&] { order.push_back(3); });
  EXPECT_TRUE(order.empty());
  t.run();
  EXPECT_EQ(order, (std::vector<int>{2, 3, 1}));
}

TEST_F(Schedules, ALaunchWaitsWhenVeryManyKernelsWait) {
  const auto s = t.create_stream(true);
  for (unsigned i = 0; i < Schedule::most_kernels; ++i) put(s, Engine::kernels, 10);
  EXPECT_DOUBLE_EQ(t.now_ns(), 0);
  put(s, Engine::kernels, 10);
  EXPECT_DOUBLE_EQ(t.now_ns(), 10);
}

TEST_F(Schedules, AFailureGivesUpWhatWaitsAndLeavesTheRestUsable) {
  const auto s = t.create_stream(true);
  const auto e = t.create_event();
  bool happened = false;
  put(s, Engine::kernels, 10);
  put(s, Engine::kernels, -1);
  put(s, Engine::copy_out, 5, 0, false, [&] { happened = true; });
  t.record(e, s);
  EXPECT_THROW(t.synchronize(), std::runtime_error);
  EXPECT_TRUE(t.idle());
  EXPECT_FALSE(happened);
  EXPECT_FALSE(t.event_time(e).has_value());
  t.synchronize();
  put(s, Engine::copy_in, 5, 0, true);
  EXPECT_FALSE(happened);
}

TEST_F(Schedules, TheSpanRunsFromTheFirstBeginToTheLastEnd) {
  EXPECT_DOUBLE_EQ(t.span_ns(), 0);
  put(0, Engine::copy_in, 10, 5);
  put(0, Engine::kernels, 10);
  t.run();
  EXPECT_DOUBLE_EQ(t.span_ns(), 20);
}

}  // namespace
}  // namespace simtlab::gpu
