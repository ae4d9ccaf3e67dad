// Stand-in for the samples' helper: a stop watch on the host's clock, in milliseconds.
#pragma once

#include <sys/time.h>

class StopWatchInterface {
 public:
  StopWatchInterface() : start_(0), total_(0), runs_(0), running_(false) {}
  void start() {
    start_ = now();
    running_ = true;
  }
  void stop() {
    total_ += now() - start_;
    ++runs_;
    running_ = false;
  }
  void reset() {
    total_ = 0;
    runs_ = 0;
    if (running_) start_ = now();
  }
  float getTime() const { return (float)(running_ ? total_ + now() - start_ : total_); }
  float getAverageTime() const { return runs_ > 0 ? (float)(total_ / runs_) : 0.0f; }

 private:
  static double now() {
    struct timeval t;
    gettimeofday(&t, 0);
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec * 1e-3;
  }
  double start_, total_;
  int runs_;
  bool running_;
};

inline bool sdkCreateTimer(StopWatchInterface** timer) {
  *timer = new StopWatchInterface();
  return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
  delete *timer;
  *timer = 0;
  return true;
}
inline bool sdkStartTimer(StopWatchInterface** timer) {
  (*timer)->start();
  return true;
}
inline bool sdkStopTimer(StopWatchInterface** timer) {
  (*timer)->stop();
  return true;
}
inline bool sdkResetTimer(StopWatchInterface** timer) {
  (*timer)->reset();
  return true;
}
inline float sdkGetTimerValue(StopWatchInterface** timer) { return (*timer)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) { return (*timer)->getAverageTime(); }
