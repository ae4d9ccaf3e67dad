#include "studies/common/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "studies/common/status.h"

namespace simtlab::studies {
namespace {

constexpr int look_every_ms = 100;  // whether the terminal was resized, whether the program has ended

bool same_terminal(int a, int b) {
  struct stat one {
  }, other{};
  return ::isatty(a) == 1 && ::fstat(a, &one) == 0 && ::fstat(b, &other) == 0 && one.st_rdev == other.st_rdev;
}

// As the real one is set, but that bytes go through as they are: the real one makes of them what it makes.
void set_like_the_real_one(int theirs) {
  termios settings{};
  if (::tcgetattr(STDERR_FILENO, &settings) != 0) return;
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  ::tcsetattr(theirs, TCSANOW, &settings);
}

}  // namespace

Relay::Relay(bool wanted) {
  if (!wanted || ::isatty(STDERR_FILENO) != 1) return;
  const int ours = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ours < 0) return;
  std::array<char, 64> name{};
  if (::grantpt(ours) != 0 || ::unlockpt(ours) != 0 || ::ptsname_r(ours, name.data(), name.size()) != 0 ||
      (theirs_ = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
    ::close(ours);
    return;
  }
  ours_ = ours;
  set_like_the_real_one(theirs_);
  resize();
}

Relay::~Relay() {
  ended();
  if (theirs_ >= 0) ::close(theirs_);
  if (ours_ >= 0) ::close(ours_);
}

int Relay::in_place_of(int descriptor) const {
  return possible() && same_terminal(descriptor, STDERR_FILENO) ? theirs_ : -1;
}

void Relay::started(pid_t program) {
  if (!possible()) return;
  // The end of the output shows when nobody has the other side any more.
  ::close(theirs_);
  theirs_ = -1;
  program_ = program;
  listen();
}

void Relay::begin() {
  if (possible()) listen();
}

void Relay::listen() {
  sigset_t all, old;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &old);
  thread_ = std::thread([this] { pass_on(); });
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

void Relay::ended() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

void Relay::pass_on() {
  std::array<char, 65536> piece{};
  for (;;) {
    // Whether it has ended is asked before the look: what it had printed by then is seen.
    const bool last = done_;
    pollfd other{ours_, POLLIN, 0};
    const int ready = ::poll(&other, 1, last ? 0 : look_every_ms);
    if (ready < 0 && errno == EINTR) continue;
    resize();
    if (ready == 0 && last) return;
    if (ready <= 0) continue;
    const ssize_t size = ::read(ours_, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;  // EIO: nobody has the other side
    write_past_status(STDERR_FILENO, std::string_view(piece.data(), static_cast<std::size_t>(size)));
  }
}

void Relay::resize() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || (size.ws_col == columns_ && size.ws_row == rows_))
    return;
  columns_ = size.ws_col, rows_ = size.ws_row;
  ::ioctl(ours_, TIOCSWINSZ, &size);
  if (program_ > 0) ::kill(program_, SIGWINCH);  // the kernel's own came before it could see the new size
}

}  // namespace simtlab::studies
