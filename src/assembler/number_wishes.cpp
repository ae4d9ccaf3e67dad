#include "assembler/number_wishes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "assembler/control_effects.h"

namespace simtlab::assembler {
namespace {

constexpr std::size_t most_sources = 4;

struct Sources {
  std::array<Ref, most_sources> refs{};
  std::size_t count = 0;
};

// Where a pair is data it reads both banks of two anyway.
Sources sources_of(const Instruction& i, unsigned banks) {
  Sources out;
  for (std::size_t k = 0; k < i.code.operand_count() && out.count < most_sources; ++k) {
    const machine::OperandKind kind = i.code.form->operands[k].kind;
    const bool memory = kind == machine::OperandKind::memory;
    if (!i.refs[k] || i.is_write(k) || (!memory && kind != machine::OperandKind::reg)) continue;
    if (!memory && i.refs[k].count > 1 && banks == 2) continue;
    if (std::find(out.refs.begin(), out.refs.begin() + static_cast<std::ptrdiff_t>(out.count), i.refs[k]) ==
        out.refs.begin() + static_cast<std::ptrdiff_t>(out.count))
      out.refs[out.count++] = i.refs[k];
  }
  return out;
}

// f(a, b) of two registers that want different banks.
template <class F>
void each_pair_of_sources(const Instruction& i, unsigned banks, const F& f) {
  const Sources sources = sources_of(i, banks);
  for (std::size_t a = 0; a < sources.count; ++a)
    for (std::size_t b = 0; b < sources.count; ++b)
      if (a != b) f(sources.refs[a], sources.refs[b], false, false);
}

// Where the vendor's assembler takes another register for the result.
bool wants_other_result(const Instruction& i) {
  constexpr std::array<std::string_view, 4> names = {"MUFU", "FRND", "LDS", "SHFL"};
  return is_one_of_names(base_mnemonic(i.code), names);
}

// The source whose number the result rather has than another's, in ptxas' code: of a wide product the addend
// in 2,500 of 2,600 cases, of one with a uniform factor the other factor in 420 of 620.
bool is_likely_in_place(const Instruction& i, std::size_t operand) {
  const machine::Form& form = *i.code.form;
  const std::string_view name = i.code.mnemonic();
  const char* const likely = name.starts_with("IMAD.WIDE")                ? "Rc"
                             : name == "IMAD" && form.operand("URb") >= 0 ? "Ra"
                                                                          : nullptr;
  return likely != nullptr && static_cast<int>(operand) == form.operand(likely);
}

// f(a, b) of a result and what it is computed from, and the other way round.
template <class F>
void each_result_and_source(const Program& program, const Instruction& i, const F& f) {
  const auto is_general = [&](const Ref& ref) {
    return ref && program.registers[ref.reg].file == File::general;
  };
  if (wants_other_result(i)) return;
  for (std::size_t w = 0; w < i.code.operand_count(); ++w) {
    if (!i.is_write(w) || !is_general(i.refs[w])) continue;
    for (std::size_t r = 0; r < i.code.operand_count(); ++r) {
      if (i.is_write(r) || !is_general(i.refs[r]) || i.refs[r].reg == i.refs[w].reg) continue;
      const bool address = i.code.form->operands[r].kind == machine::OperandKind::memory;
      const bool likely = is_likely_in_place(i, r);
      f(i.refs[w], i.refs[r], address, likely);
      f(i.refs[r], i.refs[w], false, likely);
    }
  }
}

// For each instruction of the block where the first one behind it is that reads a result of it; the block's
// end if none does. next: of each register, filled with `none`, and left so.
std::vector<std::uint32_t> first_readers(const Block& block, std::vector<std::uint32_t>& next) {
  const auto end = static_cast<std::uint32_t>(block.code.size());
  std::vector<std::uint32_t> out(end, end);
  for (std::uint32_t n = end; n-- > 0;) {
    for_each_ref(block.code[n], [&](const Ref& ref, bool writes) {
      if (writes) out[n] = std::min(out[n], next[ref.reg]);
    });
    for_each_ref(block.code[n], [&](const Ref& ref, bool writes) {
      if (!writes) next[ref.reg] = n;
    });
  }
  for (const Instruction& i : block.code)
    for_each_ref(i, [&](const Ref& ref, bool) { next[ref.reg] = none; });
  return out;
}

}  // namespace

template <class F>
NumberWishes::Lists NumberWishes::collect(const Program& program, const F& each_pair) {
  Lists out;
  out.first.assign(program.registers.size() + 1, 0);
  const auto each = [&](const auto& f) {
    for (const Block& block : program.blocks)
      for (const Instruction& i : block.code)
        each_pair(i, [&](const Ref& a, const Ref& b, bool loaded, bool likely) {
          f(a, b, loaded, likely, turns_of(block));
        });
  };
  each([&](const Ref& a, const Ref&, bool, bool, std::uint64_t) { ++out.first[a.reg + 1]; });
  for (std::size_t r = 1; r < out.first.size(); ++r) out.first[r] += out.first[r - 1];
  out.mates.resize(out.first.back());
  std::vector<std::uint32_t> next = out.first;
  each([&](const Ref& a, const Ref& b, bool loaded, bool likely, std::uint64_t turns) {
    out.mates[next[a.reg]++] = {.other = b.reg,
                                .weight = static_cast<std::uint32_t>(turns),
                                .part = a.part,
                                .other_part = b.part,
                                .loaded = loaded,
                                .likely = likely};
  });
  return out;
}

void NumberWishes::find_windows(const Program& program, const Liveness& liveness) {
  std::vector<std::pair<std::uint32_t, Window>> found;
  std::vector<std::uint32_t> next(program.registers.size(), none);
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    const Block& block = program.blocks[b];
    const std::uint32_t first = liveness.first_gap[b];
    const std::vector<std::uint32_t> readers = first_readers(block, next);
    for (std::size_t n = 0; n < block.code.size(); ++n) {
      const Instruction& i = block.code[n];
      if (i.writes == 0 || !value_effects_of(program, i).late) continue;
      const std::uint32_t from = first + static_cast<std::uint32_t>(n) + 1, to = first + readers[n] + 1;
      for (std::size_t r = 0; r < i.code.operand_count(); ++r)
        if (!i.is_write(r) && i.refs[r] && program.registers[i.refs[r].reg].file == File::general)
          found.push_back({i.refs[r].reg, {from, to, i.refs[r].part, i.refs[r].count}});
    }
  }
  std::ranges::stable_sort(found, {}, [](const auto& w) { return w.first; });
  first_window_.assign(program.registers.size() + 1, 0);
  for (const auto& [reg, window] : found) {
    ++first_window_[reg + 1];
    windows_.push_back(window);
  }
  for (std::size_t r = 1; r < first_window_.size(); ++r) first_window_[r] += first_window_[r - 1];
}

void NumberWishes::find_late_results(const Program& program, const Liveness& liveness) {
  may_begin_.assign(program.registers.size(), none);
  if (program.generation < 90) return;
  std::vector<std::uint32_t> written(program.registers.size(), 0);  // gap behind the last write
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    const std::uint32_t first = liveness.first_gap[b];
    for (std::uint32_t n = 0; n < program.blocks[b].code.size(); ++n) {
      const Instruction& i = program.blocks[b].code[n];
      std::uint32_t from = first;
      for_each_ref(i, [&](const Ref& ref, bool writes) {
        if (!writes) from = std::max(from, written[ref.reg]);
      });
      const bool late = pipe_of(i.code).kind == PipeKind::special;
      for_each_ref(i, [&](const Ref& ref, bool writes) {
        if (!writes) return;
        may_begin_[ref.reg] = late && written[ref.reg] == 0 ? from : none;
        written[ref.reg] = first + n + 1;
      });
    }
  }
}

NumberWishes::NumberWishes(const Program& program, const Liveness& liveness)
    : banks_(register_banks(program.generation)),
      read_(
          collect(program, [&](const Instruction& i, const auto& f) { each_pair_of_sources(i, banks_, f); })),
      in_place_(collect(
          program, [&](const Instruction& i, const auto& f) { each_result_and_source(program, i, f); })) {
  find_windows(program, liveness);
  find_late_results(program, liveness);
}

}  // namespace simtlab::assembler
