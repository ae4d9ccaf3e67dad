#include "gpu/timeline.h"

#include <gtest/gtest.h>

namespace simtlab::gpu {
namespace {

TEST(Timeline, AnAsynchronousOperationDoesNotHoldTheHost) {
  Timeline t;
  const Timeline::Span span = t.submit(0, Engine::compute, 100, 5, false);
  EXPECT_DOUBLE_EQ(span.begin_ns, 5);
  EXPECT_DOUBLE_EQ(span.end_ns, 105);
  EXPECT_DOUBLE_EQ(t.now_ns(), 5);
  t.synchronize();
  EXPECT_DOUBLE_EQ(t.now_ns(), 105);
}

TEST(Timeline, ABlockingOperationEndsOnTheHostWhenItEndsOnTheDevice) {
  Timeline t;
  t.submit(0, Engine::copy_in, 40, 0, true);
  EXPECT_DOUBLE_EQ(t.now_ns(), 40);
}

TEST(Timeline, OperationsOfOneStreamRunInOrderOnAnyEngine) {
  Timeline t;
  const auto s = t.create_stream(true);
  t.submit(s, Engine::copy_in, 10, 0, false);
  EXPECT_DOUBLE_EQ(t.submit(s, Engine::compute, 10, 0, false).begin_ns, 10);
  EXPECT_DOUBLE_EQ(t.submit(s, Engine::copy_out, 10, 0, false).begin_ns, 20);
}

TEST(Timeline, StreamsOverlapOnDifferentEnginesAndQueueOnOne) {
  Timeline t;
  const auto a = t.create_stream(false), b = t.create_stream(false);
  t.submit(a, Engine::compute, 50, 0, false);
  EXPECT_DOUBLE_EQ(t.submit(b, Engine::copy_in, 20, 0, false).begin_ns, 0);
  EXPECT_DOUBLE_EQ(t.submit(b, Engine::compute, 20, 0, false).begin_ns, 50);
}

TEST(Timeline, TheDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  Timeline t;
  const auto blocking = t.create_stream(false), free = t.create_stream(true);
  t.submit(blocking, Engine::copy_in, 30, 0, false);
  EXPECT_DOUBLE_EQ(t.submit(0, Engine::compute, 10, 0, false).begin_ns, 30);
  EXPECT_DOUBLE_EQ(t.submit(blocking, Engine::copy_in, 5, 0, false).begin_ns, 40);
  EXPECT_DOUBLE_EQ(t.submit(free, Engine::copy_out, 5, 0, false).begin_ns, 0);
}

TEST(Timeline, AnEventTakesTheTimeOfTheWorkBeforeIt) {
  Timeline t;
  const auto s = t.create_stream(false);
  const auto e = t.create_event();
  EXPECT_FALSE(t.event_time(e).has_value());
  t.submit(s, Engine::compute, 25, 0, false);
  t.record(e, s);
  EXPECT_DOUBLE_EQ(t.event_time(e).value(), 25);
  t.synchronize_event(e);
  EXPECT_DOUBLE_EQ(t.now_ns(), 25);
}

TEST(Timeline, AWaitHoldsUpTheOtherStream) {
  Timeline t;
  const auto a = t.create_stream(true), b = t.create_stream(true);
  const auto e = t.create_event();
  t.submit(a, Engine::copy_in, 70, 0, false);
  t.record(e, a);
  t.wait(b, e);
  EXPECT_DOUBLE_EQ(t.submit(b, Engine::compute, 1, 0, false).begin_ns, 70);
}

TEST(Timeline, WorkOfADestroyedStreamStillRunsToItsEnd) {
  Timeline t;
  const auto s = t.create_stream(false);
  t.submit(s, Engine::copy_in, 70, 0, false);
  EXPECT_TRUE(t.destroy_stream(s));
  EXPECT_FALSE(t.destroy_stream(s));
  EXPECT_FALSE(t.destroy_stream(0));
  EXPECT_FALSE(t.idle(0));
  t.synchronize();
  EXPECT_DOUBLE_EQ(t.now_ns(), 70);
  EXPECT_TRUE(t.idle(0));
}

TEST(Timeline, TheSpanRunsFromTheFirstBeginToTheLastEnd) {
  Timeline t;
  EXPECT_DOUBLE_EQ(t.span_ns(), 0);
  t.submit(0, Engine::copy_in, 10, 5, false);
  t.submit(0, Engine::compute, 10, 0, false);
  EXPECT_DOUBLE_EQ(t.span_ns(), 20);
}

}  // namespace
}  // namespace simtlab::gpu
