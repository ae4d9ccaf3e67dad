// What a gated program and the daemon say to each other: one message a packet of a Unix SOCK_SEQPACKET
// socket, little-endian, at most most_bytes long. Who the peer is comes from the socket (SO_PEERCRED), never
// from a message.
//
//   client -> daemon   Hello, Register, Request, Done, Cancel, Bye, StatsRequest, LogRequest,
//   ApplicationsRequest, Adjust
//   daemon -> client   Welcome, Grant, Stats, Log, Refused, Applications, Adjusted
//
// Every packet begins with a header: magic, version, type, size of the whole, zero. A packet that differs
// from its type in size or has a value out of range is a fault of the peer; the daemon then closes the
// connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "gpu/shared/socket.h"

namespace simtlab::corun::live {

using gpu::shared::connect_to;
using gpu::shared::default_directory;
using gpu::shared::Descriptor;
using gpu::shared::Listener;
using gpu::shared::most_bytes;
using gpu::shared::open_directory;
using gpu::shared::Packet;
using gpu::shared::Peer;
using gpu::shared::peer_of;
using gpu::shared::receive_packet;
using gpu::shared::receive_packets;
using gpu::shared::send_packet;
using gpu::shared::Sent;

inline constexpr std::uint32_t magic = 0x52434c53;  // "SLCR"
inline constexpr std::uint16_t protocol_version = 5;
inline constexpr std::size_t header_bytes = 16;
inline constexpr std::size_t most_name =
    512;  // bytes of a kernel's or program's name; longer ones are cut by the sender
inline constexpr std::size_t most_rows = 32;          // of a Stats message
inline constexpr std::size_t most_applications = 16;  // of an Applications message
inline constexpr std::size_t most_text = 8000;        // of a Log message

// The first message of a connection.
struct Hello {
  std::uint16_t first_version = protocol_version, last_version = protocol_version;  // that the client speaks
  bool shares = false;  // it can go by itself while it is alone (ring.h)
  std::string program;
  std::int32_t priority = 0;  // of its launches, for the policy priority
  bool operator==(const Hello&) const = default;
};

// Names a kernel by a number of the client's own, from 0 in steps of 1.
struct Register {
  std::uint32_t kernel = 0;
  std::uint32_t registers = 0, shared_bytes = 0;  // of the code; 0: not known
  std::string name;
  bool operator==(const Register&) const = default;
};

enum class Unit : std::uint8_t { kernel, cooperative, graph };  // what one request covers

// May this be launched? sequence: from 1, each larger than the one before.
struct Request {
  std::uint64_t sequence = 0;
  std::uint64_t stream = 0;  // of the client; launches of one stream are granted in their order
  std::uint32_t device = 0;  // the same number in every client: where it is on the bus
  std::uint32_t kernel = 0;  // of a graph: that of its first node, or the one registered for graphs
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0;  // dynamic
  Unit unit = Unit::kernel;
  bool operator==(const Request&) const = default;
};

// The launch has ended on the GPU.
struct Done {
  std::uint64_t sequence = 0;
  std::uint64_t gpu_ns = 0;  // 0: not known
  bool failed = false;       // the launch itself was refused by the runtime
  // On a simulated GPU, by its clock: when the kernel, or the first operation of a graph, began, and the end.
  // Both 0: not known.
  std::uint64_t begin_ns = 0, end_ns = 0;
  bool operator==(const Done&) const = default;
};

// The client no longer wants to wait: the request is forgotten, or its grant given back.
struct Cancel {
  std::uint64_t sequence = 0;
  bool operator==(const Cancel&) const = default;
};

struct Bye {
  bool operator==(const Bye&) const = default;
};

struct StatsRequest {
  std::uint32_t first = 0;  // row to begin with
  bool operator==(const StatsRequest&) const = default;
};

struct LogRequest {
  std::uint64_t from = 0;  // number of the first decision wanted
  bool operator==(const LogRequest&) const = default;
};

struct ApplicationsRequest {
  std::uint32_t first = 0;  // row to begin with
  bool operator==(const ApplicationsRequest&) const = default;
};

// Another policy, limit or parameter from now on; what is left out stays as it is. Not applied in part: what
// the policy would not look at, or has no such value, is refused.
struct Adjust {
  std::string policy = {};  // empty: stays
  std::optional<std::uint32_t> limit = {}, light = {}, best_effort = {};
  std::optional<std::uint64_t> aging = {}, quantum_ns = {};
  std::optional<double> l2_cap = {}, dram_cap = {}, memory_class = {};  // bytes/s, bytes/s, share
  bool operator==(const Adjust&) const = default;
};

// Policies and all settings as the log writes them, before and since an Adjust.
struct Adjusted {
  std::string before, now;
  bool operator==(const Adjusted&) const = default;
};

struct Welcome {
  std::uint16_t version = protocol_version;
  std::uint32_t client = 0;
  std::uint32_t most_waiting = 0;  // requests that may wait at once
  bool operator==(const Welcome&) const = default;
};

// The launch `sequence` may be made. With credits: a memory (ring.h) comes along, with room for so many notes
// of launches that need not ask; the sequence is 0 then, and nothing is granted. Only to clients that share,
// once.
struct Grant {
  std::uint64_t sequence = 0;
  std::uint32_t credits = 0;
  bool operator==(const Grant&) const = default;
};

enum class Refusal : std::uint16_t {
  version = 1,
  malformed,
  out_of_order,
  too_many,
  too_fast,
  no_memory,
  shutting_down,
  policy,   // there is none of that name
  settings  // a value that the policy would not look at, or that is out of range
};

// The daemon closes the connection; why.
struct Refused {
  Refusal reason = Refusal::malformed;
  std::string text;
  bool operator==(const Refused&) const = default;
};

struct Totals {
  std::uint64_t now_ns = 0;                                        // since the daemon began
  std::uint32_t clients = 0, waiting = 0, running = 0, limit = 0;  // limit 0: none
  std::uint64_t requests = 0, grants = 0, done = 0, cancelled = 0,
                lost = 0;  // lost: granted to clients that died
  std::uint64_t refused = 0, connections = 0, decisions = 0;
  std::uint32_t passed = 0;    // launches under way without slots: their clients are, or were, passed over
  std::uint64_t passes = 0;    // how often a client was passed over
  std::uint32_t profiles = 0;  // kernels in the daemon's profiles
  std::uint32_t kernels = 0;   // that were launched, each with its program and shape
  std::uint32_t unknown = 0;   // of these, kernels of which the policy does not know what it decides by
  bool learns = false;         // bandwidths and stalls, from its simulated GPU
  std::uint32_t adjusted = 0;  // how often its policy or settings were changed
  std::string policy;
  std::string device;  // a simulated GPU that the daemon has; empty: none. Cut to 200 bytes
  bool operator==(const Totals&) const = default;
};

struct ClientRow {
  std::uint32_t client = 0;
  std::int32_t pid = 0;
  std::uint32_t waiting = 0, running = 0;
  std::uint64_t grants = 0, done = 0;
  std::uint64_t waited_ns = 0, gpu_ns = 0;
  std::string program;  // cut to 64 bytes
  std::string kernel;   // of its last request; cut to 64 bytes
  bool passed = false;  // over: it makes no progress
  bool operator==(const ClientRow&) const = default;
};

// first: of these rows; the reply to a StatsRequest beyond the last row has none.
struct Stats {
  Totals totals;
  std::uint32_t first = 0;
  std::vector<ClientRow> rows;
  bool operator==(const Stats&) const = default;
};

// Lines of the decision log, whole ones. from: number of the first; older ones than those kept are skipped.
struct Log {
  std::uint64_t from = 0;
  std::uint64_t next = 0;  // to ask for next
  std::string text;
  bool operator==(const Log&) const = default;
};

// All that the processes of one program did, those that have left among them.
struct ApplicationRow {
  std::uint32_t clients = 0,
                connected = 0;  // processes that launched something; of these, those that are there
  std::uint32_t kernels = 0, unknown = 0;  // as of Totals, of this program
  std::uint64_t grants = 0, done = 0, lost = 0;
  std::uint64_t waited_ns = 0, gpu_ns = 0;
  // Of the launches whose kernel has a time alone: their time on the GPU, and the same alone.
  std::uint64_t judged_ns = 0, alone_ns = 0;
  // Over its processes of which anything is judged: how many, and the sums of slowdown, of 1 / slowdown and
  // of the logarithm of the latter.
  std::uint32_t judged = 0;
  double slowdowns = 0, progress = 0, speedup_logs = 0;
  std::string program;         // cut to 64 bytes
  std::string unknown_kernel;  // the first of them; cut to 128 bytes
  bool operator==(const ApplicationRow&) const = default;
};

struct Applications {
  std::uint32_t first = 0;
  std::vector<ApplicationRow> rows;
  bool operator==(const Applications&) const = default;
};

// The place of a type in here is its number on the wire, from 1.
using Message = std::variant<Hello, Register, Request, Done, Cancel, Bye, StatsRequest, LogRequest, Welcome,
                             Grant, Refused, Stats, Log, ApplicationsRequest, Applications, Adjust, Adjusted>;

// Texts that are too long are cut; rows beyond most_rows are a broken invariant.
void encode(const Message& message, Packet& out);

struct Decoded {
  std::optional<Message> message;
  const char* fault = nullptr;  // why there is none
};
Decoded decode(std::span<const std::byte> bytes);

const char* name_of(const Message& message);

}  // namespace simtlab::corun::live
