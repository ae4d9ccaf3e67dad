// Accel-Sim traces: every form of a line, what is wrong with a file and where.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "stream/accelsim/import.h"
#include "stream/trace/replay.h"
#include "stream/trace/walk.h"

namespace simtlab::stream::accelsim {

using machine::access_bytes;
using machine::Meaning;
using machine::SassTable;
namespace {

namespace fs = std::filesystem;

constexpr const char* header = R"(-kernel name = _Z1kPf
-kernel id = 1
-grid dim = (2,1,1)
-block dim = (64,1,1)
-shmem = 0
-nregs = 24
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x00007f0000000000
-local mem base_addr = 0x00007f1000000000
-nvbit version = 1.5
-accelsim tracer version = 5
-enable lineinfo = 0

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate

)";
constexpr const char* body = R"(#BEGIN_TB

thread block = 0,0,0

warp = 0
insts = 7
0000 ffffffff 1 R1 MOV 0 0 0
0010 ffffffff 1 R2 LDG.E.64.SYS 1 R4 8 1 0x00007f2000000000 8 0
0020 0000000b 1 R6 LDG.E.SYS 1 R4 4 2 0x00007f2000000100 4 -260 7
0030 00000005 0 STG.E.SYS 2 R4 R6 4 0 0x00007f2000000200 0x00007f2000000300 0
0040 00000000 1 R6 LDG.E.SYS 1 R4 4 1 0x0000000000000000 0 0
0050 ffffffff 1 R9 FROBNICATE.X 1 R2 0 0
0060 ffffffff 0 EXIT 0 0 0

warp = 1
insts = 0

#END_TB

#BEGIN_TB

thread block = 1,0,0

warp = 0
insts = 1
0000 ffffffff 1 R1 MOV 0 0 0

warp = 1
insts = 2
0000 ffffffff 1 R1 MOV 0 0 0
0060 ffffffff 0 EXIT 0 0 0

#END_TB
)";

SassTable volta() { return SassTable::of_version(70); }

struct Import {
  fs::path file = fs::temp_directory_path() / ("simtlab-accelsim-" + std::to_string(::getpid()) + ".simt");
  Imported imported;
  std::unique_ptr<trace::Reader> reader;

  explicit Import(const std::string& text) {
    trace::Writer writer(file, "test");
    import_kernel([&] { return memory_text(text); }, "k.traceg", volta(), writer, 0, imported, nullptr);
    writer.close();
    reader = trace::open(file);
  }
  ~Import() { fs::remove(file); }
};

TEST(AccelSim, EveryFormOfALineIsRead) {
  const Import import(std::string(header) + body);
  EXPECT_EQ(import.imported.warp_instructions, 10u);
  EXPECT_EQ(import.imported.ends_added, 2u);
  EXPECT_EQ(import.imported.unknown, (std::map<std::string, std::uint64_t>{{"FROBNICATE.X", 1}}));
  const trace::ReplayedLaunch launch(*import.reader, import.reader->next()->kernel);
  EXPECT_EQ(launch.block_count(), 2u);
  EXPECT_EQ(launch.function().name, "_Z1kPf");
  const trace::BlockEntry block = launch.entry(0);
  trace::WarpWalk walk(launch, block, 0);
  EXPECT_EQ(walk.step().addresses, nullptr);
  const Step& pairs = walk.step();
  EXPECT_EQ(pairs.bytes, 8);
  EXPECT_EQ(pairs.addresses[31], 0x7f20000000f8u);
  EXPECT_EQ(pairs.inst->dst_count, 2);  // R2 and R3
  const Step& list = walk.step();       // three lanes, two differences; the 7 is the immediate
  EXPECT_EQ(list.addresses[0], 0x7f2000000100u);
  EXPECT_EQ(list.addresses[1], 0x7f2000000104u);
  EXPECT_EQ(list.addresses[3], 0x7f2000000000u);
  const Step& store = walk.step();
  EXPECT_EQ(store.inst->op, ptx::Op::st);
  EXPECT_EQ(store.addresses[2], 0x7f2000000300u);
  EXPECT_EQ(walk.step().addresses, nullptr);
  const Step& unknown = walk.step();
  EXPECT_EQ(unknown.inst->op_class, ptx::OpClass::int_alu);
  EXPECT_EQ(walk.step().inst->op, ptx::Op::exit);
  EXPECT_TRUE(walk.at_end());
  trace::WarpWalk empty(launch, block, 1);
  EXPECT_EQ(empty.step().mask, 0u);
  EXPECT_TRUE(empty.at_end());
}

TEST(AccelSim, WidthsAndMeaningsFollowTheMnemonic) {
  EXPECT_EQ(access_bytes("LDG.E.64.SYS"), 8u);
  EXPECT_EQ(access_bytes("LDG.E.U8.CONSTANT"), 1u);
  EXPECT_EQ(access_bytes("LDS.S16"), 2u);
  EXPECT_EQ(access_bytes("LDGSTS.E.BYPASS.128"), 16u);
  EXPECT_EQ(access_bytes("STG.E"), 4u);
  const SassTable table = volta();
  EXPECT_EQ(table.of("FFMA.FTZ").op_class, ptx::OpClass::fp32);
  EXPECT_EQ(table.of("MUFU.RCP").op_class, ptx::OpClass::sfu);
  EXPECT_EQ(table.of("ATOMS.ADD").op_class, ptx::OpClass::shared_atomic);
  EXPECT_FALSE(table.of("LDGSTS.E").known);
  EXPECT_EQ(SassTable::of_version(86).of("LDGSTS.E").op_class, ptx::OpClass::async_copy);
  EXPECT_TRUE(SassTable::of_version(90).of("LDG.E").known);
  EXPECT_TRUE(SassTable::of_version(75).of("UIADD3").known);
  EXPECT_EQ(decode(table.of("BAR.ARV"), "BAR.ARV").mods.bar, ptx::BarMode::arrive);
  EXPECT_EQ(decode(table.of("MEMBAR.SC.CTA"), "MEMBAR.SC.CTA").mods.scope, ptx::Scope::cta);
  EXPECT_THROW(SassTable::of_version(13), Error);
}

struct Wrong {
  const char *from, *to, *id;
};

TEST(AccelSim, WhatIsWrongIsSaidWithTheLine) {
  const std::string good = std::string(header) + body;
  for (const Wrong& w :
       {Wrong{"(2,1,1)", "(0,1,1)", "accelsim-syntax"}, Wrong{"(64,1,1)", "(64,64,1)", "accelsim-syntax"},
        Wrong{"(64,1,1)", "(64,1)", "accelsim-syntax"},
        Wrong{"-shmem = 0", "-shmem = 99999999999999", "accelsim-syntax"},
        Wrong{"block = 1,0,0", "block = 2,0,0", "accelsim-syntax"},
        Wrong{"block = 1,0,0", "block = 0,0,0", "accelsim-syntax"},
        Wrong{"warp = 1", "warp = 2", "accelsim-syntax"}, Wrong{"warp = 1", "warp = 0", "accelsim-syntax"},
        Wrong{"insts = 7", "insts = 8", "accelsim-syntax"},
        Wrong{"insts = 7", "insts = 18446744073709551615", "accelsim-syntax"},
        Wrong{"insts = 2", "insts = 3000", "accelsim-syntax"}, Wrong{"R1 MOV", "Q1 MOV", "accelsim-syntax"},
        Wrong{"1 R1 MOV", "999999 R1 MOV", "accelsim-syntax"}, Wrong{"8 1 0x", "8 5 0x", "accelsim-syntax"},
        Wrong{"0x00007f2000000200", "0x80007f2000000200", "accelsim-syntax"},
        Wrong{"0x00007f2000000300 0", "", "accelsim-syntax"},
        Wrong{"#BEGIN_TB", "0 0 0 0 10 ffffffff", "accelsim-syntax"}}) {
    std::string text = good;
    text.replace(text.find(w.from), std::string(w.from).size(), w.to);
    try {
      Import import(text);
      ADD_FAILURE() << w.from << " -> " << w.to;
    } catch (const Error& e) {
      EXPECT_EQ(e.id(), w.id) << w.to;
      EXPECT_EQ(e.code(), ExitCode::bad_input);
      EXPECT_EQ(e.diagnostics().front().pos.file, "k.traceg");
      EXPECT_GT(e.diagnostics().front().pos.line, 0u);
    }
  }
}

TEST(AccelSim, FilesThatEndTooEarlyAreErrors) {
  const std::string good = std::string(header) + body;
  const std::size_t end = good.rfind("#END_TB");
  for (std::size_t size = 0; size < end; size += 13) {
    const std::string text = good.substr(0, size);
    // Between two blocks a file may end: the grid is then incomplete, which a trace may be.
    if (text.size() >= good.find("#END_TB") + 7 && text.rfind("#BEGIN_TB") < good.find("#END_TB")) continue;
    EXPECT_THROW(Import import(text), Error) << size;
  }
}

}  // namespace
}  // namespace simtlab::stream::accelsim
