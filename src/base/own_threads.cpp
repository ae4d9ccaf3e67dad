#include "base/own_threads.h"

#include <atomic>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace simtlab {
namespace {

std::atomic<std::ptrdiff_t> own{0};
std::atomic<unsigned> without{0};

}  // namespace

OwnThread::OwnThread() { ++own; }
OwnThread::~OwnThread() { --own; }

WithoutOtherThreads::WithoutOtherThreads() { ++without; }
WithoutOtherThreads::~WithoutOtherThreads() { --without; }

bool other_threads() {
  if (without != 0) return false;
  std::error_code error;
  std::filesystem::directory_iterator tasks("/proc/self/task", error);
  if (error) return true;
  std::ptrdiff_t all = 0;
  for (const auto end = std::filesystem::directory_iterator(); tasks != end && !error; tasks.increment(error))
    ++all;
  return error || all > own.load() + 1;
}

}  // namespace simtlab
