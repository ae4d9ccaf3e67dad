// Recorded traces: what is written comes back, whatever the pattern, and blocks can be read on their own.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "base/files.h"
#include "machine/code.h"
#include "machine/image.h"
#include "stream/executed.h"
#include "stream/trace/addresses.h"
#include "stream/trace/cut.h"
#include "stream/trace/record.h"
#include "stream/trace/replay.h"
#include "stream/trace/walk.h"

namespace simtlab::stream::trace {
namespace {

namespace fs = std::filesystem;

// A kernel with loops of different lengths, guards, a gather, an atomic and barriers; many steps, so that
// blocks have several segments.
constexpr const char* kernel_text = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 data, .param .u32 rounds)
{
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<6>;
  .shared .align 4 .b8 tile[512];
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r4, %r3, 977, %r2;
  shr.u32 %r9, %r2, 5;
  mad.lo.u32 %r1, %r9, 100, %r1;
LOOP:
  mad.lo.u32 %r4, %r4, 1664525, 1013904223;
  shr.u32 %r5, %r4, 22;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3];
  and.b32 %r7, %r4, 65536;
  setp.ne.u32 %p1, %r7, 0;
  @%p1 red.global.add.u32 [%rd3], 1;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra LOOP;
  shl.b32 %r8, %r2, 2;
  mov.u32 %r10, tile;
  add.u32 %r8, %r8, %r10;
  st.shared.u32 [%r8], %r6;
  bar.sync 0;
  ld.shared.u32 %r11, [%r8];
  setp.gt.u32 %p3, %r2, 40;
  @%p3 bra DONE;
  bar.sync 1, 64;
DONE:
  ret;
}
)";

struct Scene {
  exec::GlobalMemory memory{1u << 24, 0};
  exec::LoadedModule module{ptx::load_module("k.ptx", kernel_text), memory};
  std::vector<std::byte> params = std::vector<std::byte>(12);
  fs::path folder = fs::temp_directory_path() / ("simtlab-trace-" + std::to_string(::getpid()));
  fs::path file = folder / "t.simt";
  std::unique_ptr<exec::Launch> launch;

  explicit Scene(std::uint32_t rounds, std::uint32_t blocks = 3) {
    fs::create_directories(folder);
    const std::uint64_t data = memory.allocate(4096, "data").value();
    std::memcpy(params.data(), &data, 8);
    std::memcpy(params.data() + 8, &rounds, 4);
    exec::LaunchParams p;
    p.module = &module;
    p.grid = {blocks, 1, 1};
    p.block = {128, 1, 1};
    p.params = params;
    launch = std::make_unique<exec::Launch>(p, memory);
  }
  ~Scene() { fs::remove_all(folder); }
};

struct Taken {
  std::uint32_t pc = 0, mask = 0, active = 0;
  unsigned warp = 0, bytes = 0;
  ptx::Space space = ptx::Space::generic;
  std::vector<std::uint64_t> addresses;
  bool operator==(const Taken&) const = default;
};

Taken taken(unsigned warp, const Step& step) {
  Taken t{step.pc,
          step.mask,
          step.active,
          warp,
          step.mask != 0 ? step.bytes : 0u,
          step.mask != 0 ? step.space : ptx::Space::generic,
          {}};
  if (step.addresses != nullptr)
    for (unsigned lane = 0; lane < 32; ++lane)
      if ((step.mask >> lane & 1) != 0) t.addresses.push_back(step.addresses[lane]);
  return t;
}

// Every warp one instruction a turn: barriers and waits included.
std::vector<Taken> run(const WarpSource& launch) {
  std::vector<Taken> out;
  const std::unique_ptr<SmShare> share = launch.make_share(Effects::at_commit);
  const std::unique_ptr<ResidentBlock> block = share->make_block();
  for (std::uint64_t i = 0; i < launch.block_count(); ++i) {
    block->reset(i, 0, 0);
    for (bool more = true; more;) {
      more = false;
      for (unsigned warp = 0; warp < launch.warps_per_block(); ++warp) {
        if (block->status(warp) != WarpStatus::ready) continue;
        more = true;
        const Step& step = block->step(warp, 0);
        if (step.blocked) continue;
        out.push_back(taken(warp, step));
      }
      share->commit();
    }
    for (unsigned warp = 0; warp < launch.warps_per_block(); ++warp)
      EXPECT_EQ(block->status(warp), WarpStatus::exited);
  }
  return out;
}

std::vector<Taken> record(Scene& scene) {
  const ExecutedLaunch executed(*scene.launch);
  Writer writer(scene.file, "test");
  std::vector<Taken> steps;
  {
    RecordingLaunch recording(executed, writer, writer.reserve_kernel(0));
    steps = run(recording);
    recording.finish();
  }
  writer.close();
  return steps;
}

TEST(Trace, ARecordedKernelIsReplayedStepByStep) {
  Scene scene(3);
  const std::vector<Taken> recorded = record(scene);
  const std::unique_ptr<Reader> reader = open(scene.file);
  const std::optional<Operation> kernel = reader->next();
  ASSERT_TRUE(kernel);
  EXPECT_FALSE(reader->next());
  EXPECT_EQ(kernel->kernel.blocks, 3u);
  EXPECT_EQ(reader->totals().warp_instructions, recorded.size());
  EXPECT_EQ(run(ReplayedLaunch(*reader, kernel->kernel)), recorded);
}

TEST(Trace, BlocksLongerThanASegmentAreReplayedAndWalked) {
  Scene scene(1500, 2);
  const std::vector<Taken> recorded = record(scene);
  const std::unique_ptr<Reader> reader = open(scene.file);
  const ReplayedLaunch launch(*reader, reader->next()->kernel);
  const BlockEntry block = launch.entry(1);
  EXPECT_GT(block.segments.size(), 3u);
  EXPECT_EQ(run(launch), recorded);
  std::uint64_t walked = 0;
  for (unsigned warp = 0; warp < 4; ++warp)
    for (WarpWalk walk(launch, block, warp); !walk.at_end(); walk.step()) ++walked;
  EXPECT_EQ(walked, block.warp_instructions);
}

TEST(Trace, CutKeepsBlocksAndDiffFindsTheFirstDifference) {
  Scene scene(3, 5);
  record(scene);
  const std::unique_ptr<Reader> whole = open(scene.file);
  {
    Writer writer(scene.folder / "cut.simt", "test");
    const Totals kept = cut(*whole, {}, {1, 2}, writer, nullptr);
    EXPECT_EQ(kept.blocks, 2u);
    writer.close();
  }
  const std::unique_ptr<Reader> part = open(scene.folder / "cut.simt");
  EXPECT_EQ(part->totals().blocks, 2u);
  EXPECT_FALSE(difference(*whole, *open(scene.file), nullptr));
  const std::optional<Difference> found = difference(*whole, *part, nullptr);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "next block");
  EXPECT_EQ(found->second, "1");
  Scene other(4, 5);
  other.folder = scene.folder / "other";
  fs::create_directories(other.folder);
  other.file = other.folder / "o.simt";
  record(other);
  const std::unique_ptr<Reader> longer = open(other.file);
  const std::optional<Difference> first = difference(*whole, *longer, nullptr);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->block, 0u);
  EXPECT_EQ(first->warp, 0u);
  EXPECT_GT(first->instruction, 10u);
}

TEST(Trace, CodeComesBackWhole) {
  const auto module = ptx::load_module("k.ptx", kernel_text);
  const Buffer written = write_code(*module, module->functions.front());
  const Code code = read_code(Bytes(written));
  EXPECT_EQ(write_code(*code.module, code.function()), written);
  EXPECT_EQ(code.function().code.size(), module->functions.front().code.size());
  for (std::size_t size = 0; size < written.size(); ++size)
    EXPECT_THROW(read_code(Bytes(std::span(written).first(size))), Malformed) << size;
}

// The last value of each enumeration that an instruction of PTX can have.
TEST(Trace, CodeWithEveryKindOfModifierComesBack) {
  const auto module = ptx::load_module("m.ptx", R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry m(.param .u64 data)
{
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .f32 %f<4>; .reg .b64 %rd<6>; .reg .b16 %h<4>;
  ld.param.u64 %rd1, [data];
  ld.global.nc.f32 %f1, [%rd1];
  cvt.rpi.f32.f32 %f2, %f1;
  setp.nan.f32 %p1, %f1, %f2;
  setp.eq.xor.s32 %p2, 1, 2, %p1;
  mul.wide.s32 %rd2, 3, 4;
  atom.global.sys.cas.b32 %r1, [%rd1], 0, 1;
  shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;
  vote.sync.ballot.b32 %r3, %p2, -1;
  st.volatile.global.u32 [%rd1], %r3;
  prmt.b32.rc16 %r4, %r1, %r2, 3;
  bar.red.or.pred %p1, 0, %p2;
  ret;
}
)");
  const Buffer written = write_code(*module, module->functions.front());
  const Code code = read_code(Bytes(written));
  EXPECT_EQ(write_code(*code.module, code.function()), written);
}

// Its words are decoded again; a word that is none is refused, wherever it is damaged.
TEST(Trace, MachineCodeComesBackWhole) {
  const std::string cubin =
      read_file(SIMTLAB_SOURCE_DIR "/tests/data/machine/lines.sm_80.cubin", 1 << 20, "cubin");
  const auto module = machine::load_cubin(std::as_bytes(std::span(cubin)), "lines.cubin");
  const ptx::Function& function = module->functions.front();
  const Buffer written = write_code(*module, function);
  const Code code = read_code(Bytes(written));
  EXPECT_EQ(write_code(*code.module, code.function(), &code), written);
  ASSERT_TRUE(code.function().machine);
  EXPECT_EQ(code.function().machine->words, function.machine->words);
  EXPECT_EQ(code.function().machine->generation, 80u);
  EXPECT_EQ(code.mnemonics.size(), function.code.size());
  std::mt19937 random(1);
  for (unsigned round = 0; round < 2000; ++round) {
    Buffer damaged = written;
    damaged[random() % damaged.size()] ^= static_cast<std::uint8_t>(1u << random() % 8);
    try {
      read_code(Bytes(damaged));
    } catch (const Malformed&) {}
  }
}

TEST(Trace, AddressesOfAnyPatternComeBack) {
  std::mt19937_64 random(1);
  AddressState written, read;
  for (unsigned round = 0; round < 20000; ++round) {
    std::uint64_t lanes[32], back[32];
    const std::uint64_t base = random() >> (random() % 60), stride = random() >> (random() % 64),
                        row = random() >> (random() % 64);
    const unsigned width = 1u << (random() % 6);
    for (unsigned lane = 0; lane < 32; ++lane) {
      lanes[lane] = base + (lane % width) * stride + (lane / width) * row;
      if (round % 5 == 0) lanes[lane] = random();
    }
    std::uint32_t mask = round % 3 == 0 ? ~0u : static_cast<std::uint32_t>(random());
    for (std::uint64_t& address : lanes) address &= 0xffff'ffff'ffffu;
    if (mask == 0) mask = 1;
    Buffer bytes;
    put_addresses(bytes, written, lanes, mask, round % 7 == 0 ? ptx::Space::shared : ptx::Space::global, 4);
    Bytes in(bytes);
    ASSERT_TRUE(get_addresses(in, read, back, mask));
    EXPECT_TRUE(in.at_end());
    for (unsigned lane = 0; lane < 32; ++lane)
      if ((mask >> lane & 1) != 0) { ASSERT_EQ(lanes[lane], back[lane]) << round << " lane " << lane; }
  }
}

TEST(Trace, AddressesThatNoMemoryHasAreMalformed) {
  std::uint64_t lanes[32] = {}, back[32];
  lanes[7] = std::uint64_t{1} << address_bits;
  AddressState written, read;
  Buffer bytes;
  put_addresses(bytes, written, lanes, ~0u, ptx::Space::global, 4);
  Bytes in(bytes);
  EXPECT_THROW(get_addresses(in, read, back, ~0u), Malformed);
}

TEST(Trace, WhatIsNoTraceIsAnErrorWithTheFile) {
  for (const std::string& bytes : {std::string(), std::string("SIMTRACE"), std::string(200, 'x'),
                                   std::string("SIMTRACE\1\0\0\0\0\0\0\0", 16) + std::string(80, '\0')}) {
    try {
      Reader reader(memory_input(bytes), "x.simt");
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_input);
      EXPECT_EQ(e.diagnostics().front().pos.file, "x.simt");
    }
  }
}

}  // namespace
}  // namespace simtlab::stream::trace
