// The opcode table: every form decodes, every modifier has an effect, what is refused says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

#include "helpers.h"
#include "ptx/coverage.h"
#include "ptx/opcodes.h"

namespace simtlab::ptx {
namespace {

using namespace test;

// Opcode texts of a form: the shortest, and each alternative of each group once.
std::vector<std::string> spellings(const Form& form) {
  const std::vector<FormGroup>& groups = groups_of(form);
  std::vector<std::string> out;
  for (std::size_t varied = 0; varied <= groups.size(); ++varied) {
    const std::size_t words = varied < groups.size() ? groups[varied].words.size() : 1;
    for (std::size_t w = 0; w < words; ++w) {
      std::string text(form.base);
      for (std::size_t g = 0; g < groups.size(); ++g)
        if (!groups[g].optional || g == varied)
          text += "." + std::string(groups[g].words[g == varied ? w : 0]);
      out.push_back(text);
    }
  }
  return out;
}

// Instructions of a test file, one a line, without the lines around them.
std::set<std::string> opcodes_in(const std::string& text) {
  std::set<std::string> out;
  std::istringstream lines(text);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(".entry") != std::string::npos) inside = true;
    const std::size_t first = line.find_first_not_of(' ');
    if (!inside || first == std::string::npos || line[first] == '.' || line[first] == '}' ||
        line.find(':') == line.size() - 1)
      continue;
    out.insert(line.substr(first, line.find_first_of(" ;", first) - first));
  }
  return out;
}

TEST(Forms, WhatTheCompilersWriteDecodes) {
  const std::string text = read_file("compiler_forms.ptx");
  EXPECT_EQ(opcodes_in(text).size(), 337u);
  const auto m = load(text);
  EXPECT_GE(m->find_function("k")->code.size(), 337u);
}

TEST(Forms, TheTextWithAllSpellingsCoversTheTable) {
  const std::string text = read_file("table_forms.ptx");
  load(text);
  const std::set<std::string> present = opcodes_in(text);
  for (const Form& form : opcode_table()) {
    if (form.refused) continue;
    bool any = false;
    for (const std::string& s : spellings(form)) any = any || present.contains(s);
    // Forms that today's assemblers refuse for new targets: warp functions without mask.
    const bool old =
        (form.base == "shfl" || form.base == "vote") && form.modifiers.find("sync") == std::string_view::npos;
    const bool by_label = form.base == "brx";
    EXPECT_TRUE(any || old || by_label || form.base == "setmaxnreg") << form.base << " " << form.modifiers;
  }
}

TEST(Forms, EverySpellingIsFoundAsItsOwnOperation) {
  OpcodeMatcher matcher;
  std::vector<std::string> keep;  // the matcher keeps views
  for (const Form& form : opcode_table())
    if (!form.refused)
      for (std::string& s : spellings(form)) keep.push_back(std::move(s));
  std::size_t i = 0;
  for (const Form& form : opcode_table()) {
    if (form.refused) continue;
    for (std::size_t n = spellings(form).size(); n > 0; --n, ++i) {
      const auto& result = matcher.find(keep[i]);
      ASSERT_TRUE(result.match.has_value()) << keep[i] << ": " << result.problem;
      EXPECT_EQ(result.match->op, form.op) << keep[i];
    }
  }
}

bool same(const Mods& a, const Mods& b) {
  auto tie = [](const Mods& m) {
    return std::tuple(m.rounding, m.compare, m.bool_op, m.mul, m.atom, m.shfl, m.vote, m.cache, m.scope,
                      m.order, m.prmt, m.bar, m.geometry, m.space,
                      std::tuple(m.vector, m.ftz, m.sat, m.approx, m.full, m.relu, m.nan, m.xorsign, m.abs,
                                 m.uni, m.to, m.cc_in, m.cc_out, m.shift_amount),
                      std::tuple(m.left, m.wrap, m.all, m.aligned, m.wait_all, m.testp, m.lut, m.copy_bytes,
                                 m.src_type_hi, m.video));
  };
  return tie(a) == tie(b);
}

// A modifier that the table accepts but decode forgets would be an instruction executed wrongly.
TEST(Forms, EveryModifierChangesTheInstruction) {
  const std::set<std::string> no_effect = {"weak",
                                           "noftz",
                                           "global",
                                           "mask",
                                           "sync_restrict::shared::cta",
                                           "sync_restrict::shared::cluster",
                                           "async",
                                           "alias",
                                           "shared::cta",
                                           "shared::cluster",
                                           "L1",
                                           "L2",
                                           "uni"};
  OpcodeMatcher matcher;
  std::deque<std::string> keep;
  auto find = [&](std::string s) -> const Match* {
    keep.push_back(std::move(s));
    const auto& r = matcher.find(keep.back());
    return r.match ? &*r.match : nullptr;
  };
  std::size_t checked = 0;
  for (const Form& form : opcode_table()) {
    if (form.refused) continue;
    const std::vector<FormGroup>& groups = groups_of(form);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].types) continue;
      auto text = [&](std::string_view word) {
        std::string s(form.base);
        for (std::size_t k = 0; k < groups.size(); ++k) {
          if (k == g) {
            if (!word.empty()) s += "." + std::string(word);
          } else if (!groups[k].optional)
            s += "." + std::string(groups[k].words[0]);
        }
        return s;
      };
      for (const std::string_view word : groups[g].words) {
        const std::string w(word);
        if (no_effect.contains(w) || (form.op == Op::bar && w == "cta") ||
            (form.op == Op::cp_async && w == "shared") || w.starts_with("L1::") || w.starts_with("L2::") ||
            form.op == Op::nop || form.op == Op::mov || form.op == Op::griddepcontrol ||
            form.op == Op::setmaxnreg)
          continue;
        const Match* with = find(text(word));
        const Match* without = groups[g].optional ? find(text(""))
                               : groups[g].words.size() > 1
                                   ? find(text(groups[g].words[groups[g].words[0] == word ? 1 : 0]))
                                   : nullptr;
        if (with == nullptr || without == nullptr || with == without) continue;
        ++checked;
        EXPECT_FALSE(same(with->mods, without->mods) && with->type == without->type &&
                     with->op == without->op)
            << text(word);
      }
    }
  }
  EXPECT_GT(checked, 900u);
}

// Whether ptxas takes a text whose word at [i] belongs to group [places[i]]: the name in front, types in
// their order.
bool may_be_written(const std::vector<FormGroup>& groups, const std::vector<std::size_t>& places) {
  bool name_over = false;
  std::size_t last_name = 0, last_type = 0;
  for (const std::size_t g : places) {
    if (groups[g].named && (name_over || g < last_name)) return false;
    if (groups[g].named)
      last_name = g;
    else
      name_over = true;
    if (groups[g].types && g < last_type) return false;
    if (groups[g].types) last_type = g;
  }
  return true;
}

// Every form with all its optional modifiers, in every order that an assembler takes: the same instruction as
// in the order of the table.
TEST(Forms, EveryOrderOfModifiersIsTheSameInstruction) {
  OpcodeMatcher matcher;
  std::deque<std::string> keep;  // the matcher keeps views
  const auto find = [&](const Form& form, const std::vector<std::size_t>& places) -> const Match* {
    std::string text(form.base);
    for (const std::size_t g : places) text += "." + std::string(groups_of(form)[g].words.back());
    keep.push_back(std::move(text));
    const auto& r = matcher.find(keep.back());
    EXPECT_TRUE(r.match.has_value()) << keep.back() << ": " << r.hint;
    return r.match ? &*r.match : nullptr;
  };
  std::size_t orders = 0;
  for (const Form& form : opcode_table()) {
    if (form.refused) continue;
    const std::vector<FormGroup>& groups = groups_of(form);
    std::vector<std::size_t> places;
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (groups.size() <= 5 || !groups[g].optional || g % 2 == 0) places.push_back(g);
    const Match* listed = find(form, places);
    while (std::next_permutation(places.begin(), places.end())) {
      if (!may_be_written(groups, places)) continue;
      const Match* other = find(form, places);
      if (listed == nullptr || other == nullptr) break;
      ++orders;
      EXPECT_TRUE(same(listed->mods, other->mods) && listed->type == other->type &&
                  listed->stype == other->stype && listed->op == other->op &&
                  listed->op_class == other->op_class && listed->cache_policy == other->cache_policy &&
                  listed->operands == other->operands)
          << keep.back();
    }
  }
  EXPECT_GT(orders, 3000u);
}

// What ptxas 13.0 takes and refuses for sm_90.
TEST(Forms, OrdersAreThoseOfTheAssembler) {
  OpcodeMatcher m;
  for (const char* text : {"vote.ballot.sync.b32",
                           "vote.b32.ballot.sync",
                           "vote.all.sync.pred",
                           "vote.sync.pred.any",
                           "vote.uni.sync.pred",
                           "match.sync.any.b32",
                           "match.b64.all.sync",
                           "shfl.bfly.sync.b32",
                           "shfl.b32.idx.sync",
                           "redux.add.sync.u32",
                           "redux.b32.and.sync",
                           "bar.red.u32.popc",
                           "bar.cta.red.pred.or",
                           "barrier.aligned.sync",
                           "barrier.cta.red.aligned.u32.popc",
                           "atom.u32.add.global.gpu.relaxed",
                           "red.add.f16x2.global.noftz",
                           "ld.u32.global.relaxed.gpu",
                           "st.v2.u32.wt.global",
                           "ldu.u32.v2.global",
                           "fence.gpu.acq_rel",
                           "fence.proxy.global.async",
                           "prefetch.L1.global",
                           "discard.L2.global",
                           "cvta.to.u64.global",
                           "createpolicy.fractional.b64.L2::evict_last",
                           "cp.async.shared.global.ca",
                           "cp.async.L2::128B.cg.shared.global",
                           "tex.v4.f32.2d.s32",
                           "add.f32.rn.sat.ftz",
                           "add.s32.sat",
                           "addc.u32.cc",
                           "mad.lo.u32.cc",
                           "fma.f16.relu.rn",
                           "div.f32.approx",
                           "rcp.f64.ftz.approx",
                           "min.f32.abs.xorsign.NaN.ftz",
                           "testp.f32.finite",
                           "bfind.u32.shiftamt",
                           "shf.l.b32.wrap",
                           "set.u32.f32.ftz.and.lt",
                           "setp.f32.ftz.and.lt",
                           "slct.f32.f32.ftz",
                           "cvt.f32.f64.sat.ftz.rn",
                           "cvt.s32.f32.rni",
                           "prmt.f4e.b32",
                           "lop3.b32.or",
                           "vadd.add.s32.s32.s32.sat",
                           "vset.lt.s32.s32",
                           "szext.u32.clamp",
                           "bmsk.b32.clamp"})
    EXPECT_TRUE(m.find(text).match.has_value()) << text << ": " << m.find(text).hint;
  for (const char* text :
       {"mul.u32.wide", "mul24.u32.lo", "mad.u32.lo", "dp2a.u32.lo.s32", "shf.wrap.l.b32", "shf.b32.l.wrap",
        "bar.sync.cta", "bar.popc.red.u32", "fence.async.proxy", "cp.ca.async.shared.global",
        "cvta.global.to.u64", "createpolicy.b64.fractional.L2::evict_last", "brx.uni.idx", "slct.f32.ftz.s32",
        "cvt.f64.rn.f32", "vote.sync.b32", "add.rn.rn.f32"})
    EXPECT_FALSE(m.find(text).match.has_value()) << text;
}

TEST(Forms, ClassesFollowTypesAndModifiers) {
  OpcodeMatcher m;
  auto class_name = [&](std::string_view opcode) {
    return std::string(name_of(m.find(opcode).match->op_class));
  };
  EXPECT_EQ(class_name("add.s32"), "int_alu");
  EXPECT_EQ(class_name("mad.lo.s32"), "int_mul");
  EXPECT_EQ(class_name("div.u64"), "int_div");
  EXPECT_EQ(class_name("fma.rn.f32"), "fp32");
  EXPECT_EQ(class_name("fma.rn.f64"), "fp64");
  EXPECT_EQ(class_name("fma.rn.bf16x2"), "fp16");
  EXPECT_EQ(class_name("setp.lt.f64"), "fp64");
  EXPECT_EQ(class_name("setp.lt.s32"), "int_alu");
  EXPECT_EQ(class_name("div.rn.f32"), "fp32_div");
  EXPECT_EQ(class_name("div.approx.f32"), "sfu");
  EXPECT_EQ(class_name("sqrt.rn.f64"), "fp64_sqrt");
  EXPECT_EQ(class_name("rcp.rn.f32"), "fp32_sqrt");
  EXPECT_EQ(class_name("rcp.rn.f64"), "fp64_sqrt");
  EXPECT_EQ(class_name("rcp.approx.f32"), "sfu");
  EXPECT_EQ(class_name("sqrt.approx.ftz.f32"), "sfu");
  EXPECT_EQ(class_name("cvt.rn.f32.s32"), "convert");
  EXPECT_EQ(class_name("cvt.u64.u32"), "convert64");
  EXPECT_EQ(class_name("ld.shared.u32"), "shared");
  EXPECT_EQ(class_name("ld.const.u32"), "constant");
  EXPECT_EQ(class_name("atom.shared.add.u32"), "shared_atomic");
  EXPECT_EQ(class_name("set.lt.f32.f32"), "fp32");
  EXPECT_EQ(class_name("popc.b64"), "bit");
}

TEST(Forms, UnsupportedInstructionsAreListedTogetherWithTheirPlaces) {
  const std::string text = kernel(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
      "{%f1,%f2,%f3,%f4};\n"
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];\nadd.u32 %r1, %r2, "
      "%r3;\nfrobnicate.u32 %r1;\n  mul.u32.wide %d1, %r2, %r3;\nret;");
  try {
    load(text);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::unsupported);
    EXPECT_EQ(e.id(), "ptx-unsupported");
    ASSERT_EQ(e.diagnostics().size(), 4u);
    EXPECT_EQ(e.diagnostics()[0].pos.line, 6u);
    EXPECT_NE(e.diagnostics()[0].message.find("mma.sync"), std::string::npos);
    EXPECT_EQ(e.diagnostics()[1].pos.line, 7u);
    EXPECT_NE(e.diagnostics()[2].message.find("unknown instruction 'frobnicate.u32'"), std::string::npos);
    EXPECT_EQ(e.diagnostics()[3].pos.line, 10u);
    EXPECT_EQ(e.diagnostics()[3].pos.column, 3u);
    EXPECT_EQ(e.diagnostics()[3].text, "  mul.u32.wide %d1, %r2, %r3;");
  }
  LoadOptions tolerant;
  tolerant.reject_unsupported = false;
  const auto m = load_module("t.ptx", text, tolerant);
  EXPECT_EQ(m->functions[0].code[0].op, Op::trap);
}

TEST(Forms, RefusedFamiliesAreKnownByName) {
  for (const char* opcode :
       {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16", "wgmma.fence.sync.aligned",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", "stmatrix.sync.aligned.m8n8.x1.shared.b16",
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32", "multimem.ld_reduce.global.add.u32",
        "suld.b.2d.b32.trap", "sust.b.2d.b32.trap", "tld4.r.2d.v4.f32.f32", "txq.width.b32",
        "tex.level.2d.v4.f32.f32", "cvt.rn.satfinite.e4m3x2.f32", "atom.global.v2.f32.add",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128", "red.async.relaxed.cluster.u32",
        "mov.b128", "alloca.u64"}) {
    const auto f = failure(kernel(std::string(opcode) + ";\nret;"));
    EXPECT_EQ(f.code, ExitCode::unsupported) << opcode;
    EXPECT_NE(f.message.find("is not supported"), std::string::npos) << opcode << ": " << f.message;
    EXPECT_FALSE(f.hint.empty()) << opcode;
  }
}

TEST(Forms, MisspeltOpcodesAreSuggested) {
  const auto f = failure(kernel("shlf.sync.idx.b32 %r1, %r2, 0, 31, -1; ret;"));
  EXPECT_EQ(f.code, ExitCode::unsupported);
  EXPECT_NE(f.hint.find("did you mean 'shf"), std::string::npos) << f.hint;
  EXPECT_NE(failure(kernel("add.quick.u32 %r1, %r2, %r3; ret;")).hint.find("'.quick' is not a modifier"),
            std::string::npos);
}

TEST(Forms, CoverageListsTheWholeTable) {
  const auto entries = coverage();
  EXPECT_EQ(entries.size(), opcode_table().size());
  bool fma = false, mma = false;
  for (const CoverageEntry& e : entries) {
    if (e.form == "fma.(rn|.rz|.rm|.rp){.ftz}{.sat}.f32" || (e.form.starts_with("fma") && e.types == "f32"))
      fma = e.supported;
    if (e.form == "mma.*") mma = !e.supported && !e.note.empty();
  }
  EXPECT_TRUE(fma);
  EXPECT_TRUE(mma);
}

TEST(Forms, ThePageInTheDocumentationHasTheFormsOfTheTable) {
  std::ifstream file(std::string(SIMTLAB_SOURCE_DIR) + "/docs/reference/ptx-coverage.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("| `")) rows.push_back(line);
  const auto entries = coverage();
  ASSERT_EQ(rows.size(), entries.size())
      << "regenerate it: simtlab list ptx --markdown > docs/reference/ptx-coverage.md";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string form;
    for (const char c : entries[i].form) form += c == '|' ? std::string("\\|") : std::string(1, c);
    EXPECT_TRUE(rows[i].starts_with("| `" + form + "`")) << rows[i];
    EXPECT_NE(rows[i].find(entries[i].note), std::string::npos) << rows[i];
  }
}

}  // namespace
}  // namespace simtlab::ptx
