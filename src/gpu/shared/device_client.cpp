#include "gpu/shared/device_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "gpu/shared/device_protocol.h"
#include "result/json.h"

namespace simtlab::gpu::shared {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void lost(const std::string& why) {
  throw Error(ExitCode::unavailable, "corun-device", "the shared GPU: " + why,
              "simtlab corun serve --device sim:NAME has it; see its messages");
}

std::string content(int fd) {
  return read_file(fmt::format("/proc/self/fd/{}", fd), result::max_json_bytes, "result of the shared GPU");
}

class Client final : public gpu::SharedDevice {
 public:
  Client(const fs::path& directory, const std::string& device) : directory_(directory), owner_(::getpid()) {
    socket_ = connect_to(directory, device_socket);
    if (!socket_) lost(fmt::format("no daemon with a device answers in {}", shown(directory.string())));
    Call call;
    call.kind = Call::open;
    set_text(call.device, device);
    ask(call);
  }

  // The count is the process's: programs of one process, as threads may be, are different clients of the same
  // directory.
  fs::path trace_file() override {
    static std::atomic<std::uint64_t> traces{0};
    return directory_ / fmt::format("launch-{}-{}", ::getpid(), ++traces);
  }

  double clock_ns() override {
    Call call;
    call.kind = Call::clock;
    return ask(call).clock_ns;
  }

  std::uint64_t begin(const fs::path& trace, const timing::CycleGpu::Setup& setup, double at_ns) override {
    const Descriptor file(::open(trace.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    const int error = errno;
    std::error_code ignored;
    fs::remove(trace, ignored);  // the file stays as long as somebody has it open
    if (!file) lost(fmt::format("the recorded launch: {}", std::strerror(error)));
    Call call;
    call.kind = Call::begin;
    call.ns = at_ns;
    call.priority = setup.priority;
    call.first_sm = setup.first_sm;
    call.sms = setup.sms;
    return ask(call, file.get()).id;
  }

  std::optional<Ended> advance(double until_ns) override {
    Call call;
    call.kind = Call::advance;
    call.ns = until_ns;
    const Answer answer = ask(call);
    if (answer.kind == Answer::reached) return std::nullopt;
    if (answer.kind != Answer::ended || !passed_) lost("an answer that makes no sense");
    result::Result result = result::result_from_json(content(passed_.get()), "result of the shared GPU");
    if (result.kernels.size() != 1) lost("a result that makes no sense");
    return Ended{answer.id, answer.begin_ns, answer.end_ns, std::move(result.kernels.front())};
  }

  void invalidate(std::uint64_t address, std::uint64_t bytes) override {
    Call call;
    call.kind = Call::invalidate;
    call.address = address;
    call.bytes = bytes;
    ask(call);
  }

  // A hang-up is seen without asking.
  void check() override {
    pollfd one{socket_.get(), 0, 0};
    if (gone_ || (::poll(&one, 1, 0) > 0 && one.revents != 0)) is_gone();
  }

  // Whatever failed has been told already.
  void give_up() override {
    try {
      Call call;
      call.kind = Call::give_up;
      ask(call);
    } catch (const Error&) {}
  }

 private:
  // From then on nothing more is asked: a daemon that comes later knows nothing of this program's launches.
  [[noreturn]] void is_gone() {
    gone_ = true;
    lost("it is gone with its daemon, and so are the launches that had not ended");
  }

  Answer ask(const Call& call, int pass = -1) {
    if (::getpid() != owner_) lost("a child of a program cannot go on with its parent's GPU");
    if (gone_ || send_packet(socket_.get(), bytes_of(call), pass) != Sent::yes) is_gone();
    for (;;) {
      pollfd one{socket_.get(), POLLIN, 0};
      if (::poll(&one, 1, -1) < 0 && errno != EINTR) lost(std::strerror(errno));
      Packet packet;
      const std::ptrdiff_t got = receive_packet(socket_.get(), packet, &passed_);
      if (got == 0) continue;
      if (got < 0) is_gone();
      const std::optional<Answer> answer = record_of<Answer>(packet);
      if (!answer) lost("an answer that makes no sense");
      if (answer->kind == Answer::failed) lost(text_of(answer->text));
      return *answer;
    }
  }

  fs::path directory_;
  pid_t owner_;
  Descriptor socket_, passed_;
  bool gone_ = false;
};

}  // namespace

std::shared_ptr<gpu::SharedDevice> connect_device(const fs::path& directory, const std::string& device) {
  return std::make_shared<Client>(directory, device);
}

}  // namespace simtlab::gpu::shared
