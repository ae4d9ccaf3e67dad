#include "corun/live/ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace simtlab::corun::live {
namespace {

constexpr std::uint64_t may_go_bit = 1;
constexpr std::uint32_t count_mask = (1u << 31) - 1;
constexpr int sealed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::uint32_t notes_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 1) & count_mask; }
std::uint32_t heard_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
std::uint64_t word_of(std::uint32_t heard, std::uint32_t notes, bool go) {
  return (std::uint64_t{heard} << 32) | (std::uint64_t{notes & count_mask} << 1) | (go ? may_go_bit : 0);
}

}  // namespace

Ring& Ring::operator=(Ring&& other) noexcept {
  if (this == &other) return *this;
  close();
  file_ = std::move(other.file_);
  shared_ = std::exchange(other.shared_, nullptr);
  next_ = other.next_;
  return *this;
}

void Ring::close() {
  if (shared_ != nullptr) ::munmap(shared_, sizeof(Shared));
  shared_ = nullptr;
  file_.close();
}

// A child of the client must not take what is granted to its parent: it doesn't get the memory.
Ring::Shared* Ring::map(int fd) {
  void* const at = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return nullptr;
  if (::madvise(at, sizeof(Shared), MADV_DONTFORK) == 0) return static_cast<Shared*>(at);
  ::munmap(at, sizeof(Shared));
  return nullptr;
}

Ring Ring::make() {
  Ring out;
  out.file_ = Descriptor(::memfd_create("simtlab-corun", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!out.file_ || ::ftruncate(out.file_.get(), sizeof(Shared)) != 0 ||
      ::fcntl(out.file_.get(), F_ADD_SEALS, sealed) != 0)
    return {};
  out.shared_ = map(out.file_.get());
  return out;
}

Ring Ring::of(const Descriptor& file) {
  Ring out;
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || info.st_size != static_cast<off_t>(sizeof(Shared)) ||
      ::fcntl(file.get(), F_GET_SEALS) != sealed)
    return out;
  out.shared_ = map(file.get());
  return out;
}

bool Ring::may_go(std::uint32_t sent) const {
  const std::uint64_t word = shared_->word.load(std::memory_order_acquire);
  return (word & may_go_bit) != 0 && heard_of(word) == sent;
}

bool Ring::note(const Message& message, std::uint64_t at_ns, std::uint32_t sent) {
  return write(message, at_ns, sent);
}

// The slot is filled first; it counts once the word says so, and the word says so only if the daemon has not
// cleared the bit meanwhile.
bool Ring::write(const Message& message, std::uint64_t at_ns, std::optional<std::uint32_t> sent) {
  std::uint64_t word = shared_->word.load(std::memory_order_acquire);
  if ((word & may_go_bit) == 0 || (sent && heard_of(word) != *sent)) return false;
  const std::uint32_t notes = notes_of(word);
  if (((notes - shared_->read.load(std::memory_order_acquire)) & count_mask) >= slots) return false;
  Packet packet;
  encode(message, packet);
  Slot& slot = shared_->slot[notes % slots];
  if (packet.size > sizeof slot.bytes) return false;
  slot.at_ns = at_ns;
  slot.size = static_cast<std::uint32_t>(packet.size);
  std::memcpy(slot.bytes, packet.bytes.data(), packet.size);
  return shared_->word.compare_exchange_strong(word, word_of(heard_of(word), notes + 1, true),
                                               std::memory_order_acq_rel, std::memory_order_relaxed);
}

void Ring::let_go(std::uint32_t heard) {
  // Only a client that goes without the bit writes here too, and it harms itself.
  const std::uint64_t word = shared_->word.load(std::memory_order_acquire);
  if ((word & may_go_bit) == 0)
    shared_->word.store(word_of(heard, notes_of(word), true), std::memory_order_release);
}

void Ring::stop() { shared_->word.fetch_and(~may_go_bit, std::memory_order_acq_rel); }

bool Ring::read(const std::function<void(const Message&, std::uint64_t)>& each) {
  const std::uint32_t count = (notes_of(shared_->word.load(std::memory_order_acquire)) - next_) & count_mask;
  if (count > slots) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    // A copy: whoever writes there now can't change what has been looked at.
    Slot slot;
    std::memcpy(&slot, &shared_->slot[next_ % slots], sizeof slot);
    if (slot.size > sizeof slot.bytes) return false;
    const Decoded decoded = decode({slot.bytes, slot.size});
    if (!decoded.message || !(std::holds_alternative<Request>(*decoded.message) ||
                              std::holds_alternative<Done>(*decoded.message)))
      return false;
    each(*decoded.message, slot.at_ns);
    next_ = (next_ + 1) & count_mask;
    shared_->read.store(next_, std::memory_order_release);
  }
  return true;
}

}  // namespace simtlab::corun::live
