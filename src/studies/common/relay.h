// A pseudo terminal between the real one and a program that simtlab runs: to the program it is the terminal
// that it would have had, and what it prints goes on to the real one at once, without being mixed with the
// row that says how far the simulation is. Keys, Ctrl-C and Ctrl-Z are none of its business: the program's
// standard input and its controlling terminal stay the real ones.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <thread>

namespace simtlab::studies {

class Relay {
 public:
  // possible() says whether it came to be: stderr is a terminal and the system has a pseudo terminal left.
  explicit Relay(bool wanted);
  ~Relay();  // what the program printed is on the terminal then
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  bool possible() const { return ours_ >= 0; }
  // What the program gets in place of this descriptor of ours (1 or 2), which goes to the same terminal as
  // stderr; -1: leave it as it is.
  int in_place_of(int descriptor) const;
  // The program has been started with those.
  void started(pid_t program);
  // Instead: several will be, one after another.
  void begin();
  // It has ended, and so has its output, but for what it left running.
  void ended();

 private:
  void listen();
  void pass_on();
  void resize();

  int ours_ = -1, theirs_ = -1;
  pid_t program_ = 0;
  unsigned columns_ = 0, rows_ = 0;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace simtlab::studies
