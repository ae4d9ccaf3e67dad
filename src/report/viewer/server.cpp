#include "report/viewer/server.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "report/viewer/requests.h"

namespace simtlab::report::viewer {
namespace {

constexpr int patience_s = 30;  // with a browser that says nothing
constexpr ev_ssize_t most_header_bytes = 16 << 10, most_body_bytes = 1 << 10;

struct Free {
  void operator()(event_base* base) const { event_base_free(base); }
  void operator()(evhttp* http) const { evhttp_free(http); }
  void operator()(event* e) const { event_free(e); }
};

class Server {
 public:
  Server(Collection& collection, const ServerOptions& options) : collection_(collection), options_(options) {
    if (options_.secret.empty()) options_.secret = new_secret();
    base_.reset(event_base_new());
    http_.reset(base_ ? evhttp_new(base_.get()) : nullptr);
    if (!http_) throw Error(ExitCode::failure, "view-port", "the server cannot be started: out of memory");
    evhttp_bound_socket* const bound =
        evhttp_bind_socket_with_handle(http_.get(), "127.0.0.1", options_.port);
    if (bound == nullptr)
      throw Error(ExitCode::failure, "view-port",
                  fmt::format("127.0.0.1:{} cannot be had: {}", options_.port, std::strerror(errno)),
                  "--port 0 takes one that is free");
    sockaddr_in address{};
    socklen_t length = sizeof address;
    ::getsockname(evhttp_bound_socket_get_fd(bound), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    evhttp_set_allowed_methods(http_.get(), EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_max_headers_size(http_.get(), most_header_bytes);
    evhttp_set_max_body_size(http_.get(), most_body_bytes);
    evhttp_set_timeout(http_.get(), patience_s);
    evhttp_set_gencb(
        http_.get(), [](evhttp_request* request, void* self) { static_cast<Server*>(self)->serve(request); },
        this);
    watch_.reset(event_new(
        base_.get(), -1, EV_PERSIST,
        [](evutil_socket_t, short, void* self) { static_cast<Server*>(self)->watch(); }, this));
    const timeval tenth{0, 100'000};
    if (!watch_ || event_add(watch_.get(), &tenth) != 0)
      throw Error(ExitCode::failure, "view-port", "the server cannot be started: out of memory");
  }

  void run() {
    options_.ready(fmt::format("http://127.0.0.1:{}/{}/", port_, options_.secret));
    event_base_dispatch(base_.get());
  }

 private:
  void watch() {
    if (options_.stop != nullptr && *options_.stop) event_base_loopbreak(base_.get());
  }

  // A page of somebody else's whose name leads here must not read ours.
  bool is_our_name(evhttp_request* request) const {
    const char* const host = evhttp_find_header(evhttp_request_get_input_headers(request), "Host");
    if (host == nullptr) return false;
    return fmt::format("127.0.0.1:{}", port_) == host || fmt::format("localhost:{}", port_) == host;
  }

  void serve(evhttp_request* request) {
    const char* const target = evhttp_request_get_uri(request);
    Answer out =
        !is_our_name(request) || target == nullptr || target[0] != '/'
            ? Answer{403, "text/plain; charset=utf-8", "this server is for 127.0.0.1 and localhost\n", {}}
            : answer(collection_, options_, target);
    evkeyvalq* const headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Content-Type", out.type.c_str());
    evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_add_header(headers, "Referrer-Policy", "no-referrer");  // the secret is in the address
    evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
    evhttp_add_header(headers, "X-Frame-Options", "DENY");
    evhttp_add_header(headers, "Cross-Origin-Resource-Policy", "same-origin");
    if (!out.location.empty()) evhttp_add_header(headers, "Location", out.location.c_str());
    evbuffer* const body = evbuffer_new();
    if (body != nullptr) evbuffer_add(body, out.body.data(), out.body.size());
    evhttp_send_reply(request, out.status, nullptr, body);
    if (body != nullptr) evbuffer_free(body);
  }

  Collection& collection_;
  ServerOptions options_;
  std::uint16_t port_ = 0;
  std::unique_ptr<event_base, Free> base_;  // before what lives in it
  std::unique_ptr<evhttp, Free> http_;
  std::unique_ptr<event, Free> watch_;
};

}  // namespace

std::string new_secret() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    throw Error(ExitCode::failure, "view-port", "the system gives no random numbers");
  std::string out;
  for (const unsigned char b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

void serve(Collection& collection, const ServerOptions& options) { Server(collection, options).run(); }

}  // namespace simtlab::report::viewer
