// Sub-processes without a shell: arguments are passed as they are.
#pragma once

#include <string>
#include <vector>

namespace simtlab::compile {

struct ProcessResult {
  int status = 0;      // exit status, or 128 + signal
  std::string output;  // what was captured
};

enum class Capture { none, output, messages, all };  // messages: standard error; all: both

// While it lives, what sub-processes of this thread say on standard error goes to this descriptor; -1: where
// it goes now.
class MessagesTo {
 public:
  explicit MessagesTo(int descriptor);
  ~MessagesTo();
  MessagesTo(const MessagesTo&) = delete;
  MessagesTo& operator=(const MessagesTo&) = delete;

 private:
  int before_;
};

// Runs argv[0] (looked up in PATH) and waits. What is not captured (at most 16 MiB are kept) is inherited.
// seconds: of processor time, then it is killed; 0: as many as it likes.
// Throws Error(failure) if the process cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, Capture capture = Capture::none,
                          unsigned seconds = 0);
// Whether the process ended because it was killed, for its time for instance.
bool was_killed(const ProcessResult& result);

// The full path of a program in PATH, or empty.
std::string find_program(const std::string& name);

}  // namespace simtlab::compile
