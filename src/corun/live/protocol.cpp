#include "corun/live/protocol.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"

namespace simtlab::corun::live {
namespace {

static_assert(std::endian::native == std::endian::little,
              "both ends are on one machine; the wire is its byte order");

constexpr std::size_t most_row_text = 64;
constexpr std::size_t most_refusal = 512;
constexpr std::size_t most_device = 200;
constexpr std::size_t most_settings = 1000;
constexpr std::size_t most_kernel_text = 128;

class Sink {
 public:
  explicit Sink(Packet& out) : out_(out) { out_.size = header_bytes; }
  template <typename... T>
  void put(T... values) {
    (one(values), ...);
  }
  void text(const std::string& text, std::size_t most) {
    const auto size = static_cast<std::uint16_t>(std::min(text.size(), most));
    one(size);
    raw(text.data(), size);
  }
  void seal(std::uint16_t type) {
    const std::uint32_t words[4] = {magic, std::uint32_t{protocol_version} | (std::uint32_t{type} << 16),
                                    static_cast<std::uint32_t>(out_.size), 0};
    std::memcpy(out_.bytes.data(), words, sizeof words);
  }

 private:
  template <typename T>
  void one(T value) {
    raw(&value, sizeof value);
  }
  void raw(const void* from, std::size_t size) {
    SIMTLAB_ASSERT(out_.size + size <= most_bytes, "a message fits a packet");
    std::memcpy(out_.bytes.data() + out_.size, from, size);
    out_.size += size;
  }
  Packet& out_;
};

// Reads what is there; `bad` once something was not.
class Source {
 public:
  explicit Source(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <typename... T>
  void get(T&... values) {
    (one(values), ...);
  }
  void text(std::string& out, std::size_t most) {
    std::uint16_t size = 0;
    one(size);
    if (bad || size > most || size > bytes_.size()) {
      bad = true;
      return;
    }
    out.assign(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
  }
  void flag(bool& out) {
    std::uint8_t value = 0;
    one(value);
    bad = bad || value > 1;
    out = value == 1;
  }
  template <typename E>
  void choice(E& out, E last, unsigned first = 0) {
    std::underlying_type_t<E> value{};
    one(value);
    if (value < first || value > static_cast<std::underlying_type_t<E>>(last))
      bad = true;
    else
      out = static_cast<E>(value);
  }
  bool complete() const { return !bad && bytes_.empty(); }
  bool bad = false;

 private:
  template <typename T>
  void one(T& value) {
    if (bad || bytes_.size() < sizeof value) {
      bad = true;
      return;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
  }
  std::span<const std::byte> bytes_;
};

void write(Sink& s, const Hello& m) {
  s.put(m.first_version, m.last_version, static_cast<std::uint8_t>(m.shares), m.priority),
      s.text(m.program, most_name);
}
void read(Source& s, Hello& m) {
  s.get(m.first_version, m.last_version), s.flag(m.shares), s.get(m.priority), s.text(m.program, most_name);
}

void write(Sink& s, const Register& m) {
  s.put(m.kernel, m.registers, m.shared_bytes), s.text(m.name, most_name);
}
void read(Source& s, Register& m) { s.get(m.kernel, m.registers, m.shared_bytes), s.text(m.name, most_name); }

void write(Sink& s, const Request& m) {
  s.put(m.sequence, m.stream, m.device, m.kernel, m.grid[0], m.grid[1], m.grid[2], m.block[0], m.block[1],
        m.block[2], m.shared_bytes, static_cast<std::uint8_t>(m.unit));
}
void read(Source& s, Request& m) {
  s.get(m.sequence, m.stream, m.device, m.kernel, m.grid[0], m.grid[1], m.grid[2], m.block[0], m.block[1],
        m.block[2], m.shared_bytes);
  s.choice(m.unit, Unit::graph);
}

void write(Sink& s, const Done& m) {
  s.put(m.sequence, m.gpu_ns, m.begin_ns, m.end_ns, static_cast<std::uint8_t>(m.failed));
}
void read(Source& s, Done& m) {
  s.get(m.sequence, m.gpu_ns, m.begin_ns, m.end_ns), s.flag(m.failed);
  s.bad = s.bad || m.end_ns < m.begin_ns;
}
void write(Sink& s, const Cancel& m) { s.put(m.sequence); }
void read(Source& s, Cancel& m) { s.get(m.sequence); }
void write(Sink&, const Bye&) {}
void read(Source&, Bye&) {}
void write(Sink& s, const StatsRequest& m) { s.put(m.first); }
void read(Source& s, StatsRequest& m) { s.get(m.first); }
void write(Sink& s, const LogRequest& m) { s.put(m.from); }
void read(Source& s, LogRequest& m) { s.get(m.from); }
void write(Sink& s, const Welcome& m) { s.put(m.version, m.client, m.most_waiting); }
void read(Source& s, Welcome& m) { s.get(m.version, m.client, m.most_waiting); }
void write(Sink& s, const Grant& m) { s.put(m.sequence, m.credits); }
void read(Source& s, Grant& m) { s.get(m.sequence, m.credits); }
void write(Sink& s, const Refused& m) {
  s.put(static_cast<std::uint16_t>(m.reason)), s.text(m.text, most_refusal);
}
void read(Source& s, Refused& m) { s.choice(m.reason, Refusal::settings, 1), s.text(m.text, most_refusal); }

void write(Sink& s, const Totals& t) {
  s.put(t.now_ns, t.clients, t.waiting, t.running, t.limit, t.requests, t.grants, t.done, t.cancelled, t.lost,
        t.refused, t.connections, t.decisions, t.passed, t.passes, t.profiles, t.kernels, t.unknown,
        static_cast<std::uint8_t>(t.learns), t.adjusted);
  s.text(t.policy, most_row_text), s.text(t.device, most_device);
}
void read(Source& s, Totals& t) {
  s.get(t.now_ns, t.clients, t.waiting, t.running, t.limit, t.requests, t.grants, t.done, t.cancelled, t.lost,
        t.refused, t.connections, t.decisions, t.passed, t.passes, t.profiles, t.kernels, t.unknown);
  s.flag(t.learns), s.get(t.adjusted);
  s.text(t.policy, most_row_text), s.text(t.device, most_device);
}

void write(Sink& s, const ClientRow& r) {
  s.put(r.client, r.pid, r.waiting, r.running, static_cast<std::uint8_t>(r.passed), r.grants, r.done,
        r.waited_ns, r.gpu_ns);
  s.text(r.program, most_row_text), s.text(r.kernel, most_row_text);
}
void read(Source& s, ClientRow& r) {
  s.get(r.client, r.pid, r.waiting, r.running), s.flag(r.passed),
      s.get(r.grants, r.done, r.waited_ns, r.gpu_ns);
  s.text(r.program, most_row_text), s.text(r.kernel, most_row_text);
}

void write(Sink& s, const ApplicationRow& r) {
  s.put(r.clients, r.connected, r.kernels, r.unknown, r.grants, r.done, r.lost, r.waited_ns, r.gpu_ns,
        r.judged_ns, r.alone_ns, r.judged, r.slowdowns, r.progress, r.speedup_logs);
  s.text(r.program, most_row_text), s.text(r.unknown_kernel, most_kernel_text);
}
void read(Source& s, ApplicationRow& r) {
  s.get(r.clients, r.connected, r.kernels, r.unknown, r.grants, r.done, r.lost, r.waited_ns, r.gpu_ns,
        r.judged_ns, r.alone_ns, r.judged, r.slowdowns, r.progress, r.speedup_logs);
  s.text(r.program, most_row_text), s.text(r.unknown_kernel, most_kernel_text);
}

template <typename Page>
void write_rows(Sink& s, const Page& m, std::size_t most) {
  SIMTLAB_ASSERT(m.rows.size() <= most, "the caller cuts rows into pages");
  s.put(m.first, static_cast<std::uint16_t>(m.rows.size()));
  for (const auto& row : m.rows) write(s, row);
}
template <typename Page>
void read_rows(Source& s, Page& m, std::size_t most) {
  std::uint16_t rows = 0;
  s.get(m.first, rows);
  s.bad = s.bad || rows > most;
  for (unsigned i = 0; i < rows && !s.bad; ++i) read(s, m.rows.emplace_back());
}

void write(Sink& s, const Stats& m) { write(s, m.totals), write_rows(s, m, most_rows); }
void read(Source& s, Stats& m) { read(s, m.totals), read_rows(s, m, most_rows); }
void write(Sink& s, const ApplicationsRequest& m) { s.put(m.first); }
void read(Source& s, ApplicationsRequest& m) { s.get(m.first); }
void write(Sink& s, const Applications& m) { write_rows(s, m, most_applications); }
void read(Source& s, Applications& m) { read_rows(s, m, most_applications); }

void write(Sink& s, const Log& m) { s.put(m.from, m.next), s.text(m.text, most_text); }
void read(Source& s, Log& m) { s.get(m.from, m.next), s.text(m.text, most_text); }

template <typename T>
void write(Sink& s, const std::optional<T>& value) {
  s.put(static_cast<std::uint8_t>(value.has_value()), value.value_or(T{}));
}
template <typename T>
void read(Source& s, std::optional<T>& value) {
  bool there = false;
  T is{};
  s.flag(there), s.get(is);
  if (there) value = is;
  s.bad = s.bad || (!there && is != T{});
}

void write(Sink& s, const Adjust& m) {
  s.text(m.policy, most_row_text);
  write(s, m.limit), write(s, m.light), write(s, m.best_effort), write(s, m.aging), write(s, m.quantum_ns);
  write(s, m.l2_cap), write(s, m.dram_cap), write(s, m.memory_class);
}
void read(Source& s, Adjust& m) {
  s.text(m.policy, most_row_text);
  read(s, m.limit), read(s, m.light), read(s, m.best_effort), read(s, m.aging), read(s, m.quantum_ns);
  read(s, m.l2_cap), read(s, m.dram_cap), read(s, m.memory_class);
}
void write(Sink& s, const Adjusted& m) { s.text(m.before, most_settings), s.text(m.now, most_settings); }
void read(Source& s, Adjusted& m) { s.text(m.before, most_settings), s.text(m.now, most_settings); }

template <std::size_t I = 0>
bool read_type(std::uint16_t type, Source& source, std::optional<Message>& out) {
  if constexpr (I < std::variant_size_v<Message>) {
    if (type != I + 1) return read_type<I + 1>(type, source, out);
    out.emplace(std::in_place_index<I>);
    read(source, std::get<I>(*out));
    return true;
  } else {
    return false;
  }
}

constexpr const char* names[] = {
    "Hello",        "Register", "Request", "Done",    "Cancel", "Bye", "StatsRequest",
    "LogRequest",   "Welcome",  "Grant",   "Refused", "Stats",  "Log", "ApplicationsRequest",
    "Applications", "Adjust",   "Adjusted"};
static_assert(std::size(names) == std::variant_size_v<Message>);

}  // namespace

void encode(const Message& message, Packet& out) {
  Sink sink(out);
  std::visit([&](const auto& m) { write(sink, m); }, message);
  sink.seal(static_cast<std::uint16_t>(message.index() + 1));
}

Decoded decode(std::span<const std::byte> bytes) {
  Decoded out;
  if (bytes.size() < header_bytes) return out.fault = "shorter than a header", out;
  if (bytes.size() > most_bytes) return out.fault = "longer than a message may be", out;
  std::uint32_t words[4];
  std::memcpy(words, bytes.data(), sizeof words);
  if (words[0] != magic) return out.fault = "not of this protocol", out;
  if (words[1] % 65536 != protocol_version) return out.fault = "of another version", out;
  if (words[2] != bytes.size()) return out.fault = "cut short or too long", out;
  if (words[3] != 0) return out.fault = "reserved bytes are set", out;
  Source source(bytes.subspan(header_bytes));
  if (!read_type(static_cast<std::uint16_t>(words[1] >> 16), source, out.message))
    return out.fault = "of an unknown type", out;
  if (!source.complete()) {
    out.message.reset();
    out.fault = "its content does not fit its type";
  }
  return out;
}

const char* name_of(const Message& message) { return names[message.index()]; }

}  // namespace simtlab::corun::live
