// Memory that the daemon shares with a client: while the client is let go, it launches without asking and
// notes there what it did.
//
// While nobody waits and there is room for one launch more of each client that was let go, the policy would
// grant them at once, in whatever order they come (corun::Policy::all_go). So the answer is given before the
// question. The daemon says so by a bit of one word; the client takes each launch by an exchange of that
// word, with the Request written beside it, and notes each Done the same way. Before the daemon looks at
// anything else it clears the bits of all and reads what was noted up to then. So what a client did before is
// known, what it does after is asked for, and there is no third case.
//
//   bits 63..32  messages of the client that the daemon had read when it set the bit: one that has sent more
//   has something on its way, and asks bits 31..1   notes that the client has written, all told bit 0 it may
//   go
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "corun/live/protocol.h"

namespace simtlab::corun::live {

class Ring {
 public:
  static constexpr std::uint32_t slots = 1024;
  static constexpr std::size_t slot_bytes = 112;  // of which a Request or a Done takes less

  Ring() = default;
  Ring(Ring&& other) noexcept { *this = std::move(other); }
  Ring& operator=(Ring&& other) noexcept;
  ~Ring() { close(); }
  explicit operator bool() const { return shared_ != nullptr; }
  void close();
  // Of a child, which does not have the memory.
  void abandon() { shared_ = nullptr; }

  // The daemon's end: empty if there is no memory. Its size cannot be changed by anybody.
  static Ring make();
  int file() const { return file_.get(); }
  void passed_on() { file_.close(); }
  // The client's end; empty if the file is not such a memory.
  static Ring of(const Descriptor& file);

  // ---- client. `sent`: messages that it has sent on this connection.
  bool may_go(std::uint32_t sent) const;
  // False, and nothing has happened: it may not, or there is no room.
  bool note(const Message& message, std::uint64_t at_ns, std::uint32_t sent);
  bool note_end(const Done& done, std::uint64_t at_ns) { return write(done, at_ns, std::nullopt); }

  // ---- daemon
  void let_go(std::uint32_t heard);
  void stop();
  // What was noted since the last time, in its order; false: it is none of ours that wrote it.
  bool read(const std::function<void(const Message& message, std::uint64_t at_ns)>& each);

 private:
  struct Slot {
    std::uint64_t at_ns;
    std::uint32_t size, unused;
    std::byte bytes[slot_bytes - 16];
  };
  struct Shared {
    std::atomic<std::uint64_t> word;
    std::atomic<std::uint32_t> read;  // notes that the daemon has taken
    std::byte unused[52];
    Slot slot[slots];
  };
  static_assert(sizeof(Slot) == slot_bytes && std::atomic<std::uint64_t>::is_always_lock_free);

  static Shared* map(int fd);
  bool write(const Message& message, std::uint64_t at_ns, std::optional<std::uint32_t> sent);

  Descriptor file_;
  Shared* shared_ = nullptr;
  std::uint32_t next_ = 0;  // note that the daemon reads next
};

}  // namespace simtlab::corun::live
