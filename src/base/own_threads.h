// Which threads of this process are ours: simtlab's libraries live in programs that have threads of their
// own.
#pragma once

namespace simtlab {

// While one lives, the thread that made it counts as ours. Made by every thread that a library of ours
// starts.
class OwnThread {
 public:
  OwnThread();
  ~OwnThread();
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;
};

// Whether threads besides ours and the caller's are there; yes if nobody can say.
bool other_threads();

// While one lives, other_threads() says no: the caller will not wait for what they do.
class WithoutOtherThreads {
 public:
  WithoutOtherThreads();
  ~WithoutOtherThreads();
  WithoutOtherThreads(const WithoutOtherThreads&) = delete;
  WithoutOtherThreads& operator=(const WithoutOtherThreads&) = delete;
};

}  // namespace simtlab
