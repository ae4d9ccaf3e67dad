// One simulated GPU for several programs: values are each one's own, times are those of sharing, and nobody's
// end harms the others.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "device/catalogue.h"
#include "gpu/gpu.h"
#include "gpu/shared/device_client.h"
#include "gpu/shared/device_server.h"

namespace simtlab::gpu::shared {
namespace {

constexpr const char* stream_kernel = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .entry add(.param .u64 data, .param .u32 rounds)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r6, [rounds];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 128;
  add.s64 %rd3, %rd1, %rd2;
AGAIN:
  ld.global.u32 %r5, [%rd3];
  add.s32 %r5, %r5, 1;
  st.global.u32 [%rd3], %r5;
  sub.s32 %r6, %r6, 1;
  setp.ne.u32 %p1, %r6, 0;
  @%p1 bra AGAIN;
  ret;
}
)";
constexpr unsigned blocks = 96, threads = 256;

struct DeviceFolder {
  DeviceFolder() {
    char name[] = "/tmp/simtlab-device-XXXXXX";
    path = std::filesystem::path(::mkdtemp(name));
  }
  ~DeviceFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

device::Device small_device() { return device::load_device("titanx", {{"sm.count", "4", {}}}).device; }

struct Sharing {
  explicit Sharing(std::uint64_t patience_ns = 5'000'000'000) {
    DeviceOptions options;
    options.directory = folder.path;
    options.patience_ns = patience_ns;
    server = std::make_unique<DeviceServer>(device, options);
    thread = std::thread([this] { server->run(); });
  }
  ~Sharing() { end(); }
  DeviceServer::Counts end() {
    if (thread.joinable()) server->stop(), thread.join();
    return server->counts();
  }
  DeviceFolder folder;
  device::Device device = small_device();
  std::unique_ptr<DeviceServer> server;
  std::thread thread;
};

// A program: so many launches, each adding to its own words; the mean time of a kernel.
double program(const Sharing& sharing, unsigned launches, std::uint32_t begin_value,
               std::atomic<unsigned>* together = nullptr, unsigned parties = 1) {
  gpu::Options options;
  options.shared = connect_device(sharing.folder.path, sharing.device.name);
  gpu::Gpu gpu(sharing.device, options);
  if (together != nullptr)
    for (++*together; *together < parties;) std::this_thread::yield();
  const gpu::ModuleId module = gpu.load_module("m", stream_kernel);
  const std::uint64_t bytes = std::uint64_t{blocks} * threads * 128;
  const std::uint64_t address = gpu.allocate(bytes, "data").value();
  std::vector<std::uint32_t> host(bytes / 4, begin_value);
  EXPECT_TRUE(gpu.copy(reinterpret_cast<void*>(address), host.data(), bytes,
                       gpu::Gpu::CopyKind::host_to_device, 0, false));
  for (unsigned i = 0; i < launches; ++i) {
    std::array<std::byte, 12> parameters{};
    const std::uint32_t rounds = 2;
    std::memcpy(parameters.data(), &address, 8);
    std::memcpy(parameters.data() + 8, &rounds, 4);
    gpu.launch(*gpu.find_kernel(module, "add"), {blocks, 1, 1}, {threads, 1, 1}, 0, parameters, 0);
  }
  gpu.synchronize();
  EXPECT_TRUE(gpu.copy(host.data(), reinterpret_cast<void*>(address), bytes,
                       gpu::Gpu::CopyKind::device_to_host, 0, false));
  EXPECT_EQ(host[0], begin_value + 2 * launches);
  EXPECT_EQ(host[bytes / 4 - 32], begin_value + 2 * launches);
  const result::Result result = gpu.result();
  EXPECT_EQ(result.kernels.size(), launches);
  double sum = 0;
  for (const result::KernelResult& kernel : result.kernels) sum += kernel.metrics.get("gpu.time").value_or(0);
  return sum / launches;
}

TEST(SharedDevice, AProgramAloneSeesWhatAGpuOfItsOwnWouldGive) {
  Sharing sharing;
  const double shared = program(sharing, 3, 100);
  const DeviceServer::Counts counts = sharing.end();
  EXPECT_EQ(counts.launches, 3u);
  EXPECT_EQ(counts.ended, 3u);
  EXPECT_EQ(counts.impatient, 0u);

  gpu::Gpu own(sharing.device, gpu::Options());
  const gpu::ModuleId module = own.load_module("m", stream_kernel);
  const std::uint64_t bytes = std::uint64_t{blocks} * threads * 128;
  const std::uint64_t address = own.allocate(bytes, "data").value();
  for (int i = 0; i < 3; ++i) {
    std::array<std::byte, 12> parameters{};
    const std::uint32_t rounds = 2;
    std::memcpy(parameters.data(), &address, 8);
    std::memcpy(parameters.data() + 8, &rounds, 4);
    own.launch(*own.find_kernel(module, "add"), {blocks, 1, 1}, {threads, 1, 1}, 0, parameters, 0);
  }
  own.synchronize();
  double sum = 0;
  for (const result::KernelResult& kernel : own.result().kernels)
    sum += kernel.metrics.get("gpu.time").value_or(0);
  EXPECT_NEAR(shared, sum / 3, 0.02 * shared) << "other addresses, other DRAM rows: nothing else differs";
}

TEST(SharedDevice, TwoProgramsSlowEachOtherAndTheirValuesStayTheirOwn) {
  double alone = 0;
  {
    Sharing sharing;
    alone = program(sharing, 6, 7);
  }
  Sharing sharing;
  std::atomic<unsigned> together{0};
  double times[2] = {};
  std::thread other([&] { times[1] = program(sharing, 6, 1000, &together, 2); });
  times[0] = program(sharing, 6, 7, &together, 2);
  other.join();
  EXPECT_GT(times[0], 1.2 * alone);
  EXPECT_GT(times[1], 1.2 * alone);
  EXPECT_LT(times[0], 4 * alone);
  EXPECT_EQ(sharing.end().ended, 12u);
}

TEST(SharedDevice, TheSameProgramsGiveTheSameTimes) {
  double times[2][2] = {};
  for (auto& run : times) {
    Sharing sharing(60'000'000'000);
    std::atomic<unsigned> together{0};
    std::thread other([&] { run[1] = program(sharing, 4, 1000, &together, 2); });
    run[0] = program(sharing, 4, 7, &together, 2);
    other.join();
    EXPECT_EQ(sharing.end().impatient, 0u);
  }
  // Which of the two has which addresses is up to the order of their connections: the sum does not tell them
  // apart.
  EXPECT_NEAR(times[0][0] + times[0][1], times[1][0] + times[1][1], 0.02 * (times[0][0] + times[0][1]));
}

TEST(SharedDevice, AProgramThatDiesOrSaysNothingDoesNotHoldTheOthersUp) {
  Sharing sharing(50'000'000);
  Descriptor silent = connect_to(sharing.folder.path, device_socket);
  Call open;
  open.kind = Call::open;
  set_text(open.device, sharing.device.name);
  ASSERT_EQ(send_packet(silent.get(), bytes_of(open)), Sent::yes);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GT(program(sharing, 2, 1), 0);
  silent.close();
  EXPECT_GT(program(sharing, 2, 1), 0);
  EXPECT_GE(sharing.end().impatient, 1u);
}

// One thread that waits for its memory: between its events nothing happens, and launches of others fall into
// such gaps.
double slow_program(const Sharing& sharing, unsigned launches, std::atomic<unsigned>& together) {
  gpu::Options options;
  options.shared = connect_device(sharing.folder.path, sharing.device.name);
  gpu::Gpu gpu(sharing.device, options);
  const gpu::ModuleId module = gpu.load_module("m", stream_kernel);
  const std::uint64_t address = gpu.allocate(4096, "data").value();
  for (++together; together < 2;) std::this_thread::yield();
  for (unsigned i = 0; i < launches; ++i) {
    std::array<std::byte, 12> parameters{};
    const std::uint32_t rounds = 20 + i;
    std::memcpy(parameters.data(), &address, 8);
    std::memcpy(parameters.data() + 8, &rounds, 4);
    gpu.launch(*gpu.find_kernel(module, "add"), {1, 1, 1}, {1, 1, 1}, 0, parameters, 0);
    gpu.synchronize();
  }
  return static_cast<double>(gpu.result().kernels.size());
}

TEST(SharedDevice, TimeGoesOnWhereALaunchIsDueBetweenTwoEventsOfAnother) {
  Sharing sharing;
  std::atomic<unsigned> together{0};
  double kernels = 0;
  std::thread other([&] { kernels = slow_program(sharing, 40, together); });
  EXPECT_EQ(slow_program(sharing, 40, together), 40);
  other.join();
  EXPECT_EQ(kernels, 40);
  EXPECT_EQ(sharing.end().ended, 80u);
}

TEST(SharedDevice, GarbageEndsItsConnectionAndAnotherDeviceIsRefused) {
  Sharing sharing(50'000'000);
  for (const std::string& bytes :
       {std::string("hello"), std::string(sizeof(Call), 'x'), std::string(9000, 'y')}) {
    Descriptor peer = connect_to(sharing.folder.path, device_socket);
    ASSERT_TRUE(peer);
    send_packet(peer.get(), std::as_bytes(std::span(bytes)));
    Packet packet;
    std::ptrdiff_t got = 0;
    for (int i = 0; i < 500 && got == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2)), got = receive_packet(peer.get(), packet);
    EXPECT_EQ(got, -1);
  }
  try {
    connect_device(sharing.folder.path, "another");
    FAIL();
  } catch (const Error& e) { EXPECT_EQ(e.id(), "corun-device"); }
  EXPECT_GT(program(sharing, 1, 1), 0);
}

// The call that a program would make with a file that is no trace.
TEST(SharedDevice, ARecordThatIsNoneIsRefused) {
  Sharing sharing(50'000'000);
  const std::shared_ptr<gpu::SharedDevice> device = connect_device(sharing.folder.path, sharing.device.name);
  const std::filesystem::path file = device->trace_file();
  std::ofstream(file) << "not a trace";
  EXPECT_THROW(device->begin(file, {}, 0), Error);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_GT(program(sharing, 1, 1), 0);
}

}  // namespace
}  // namespace simtlab::gpu::shared
