// Encoder and decoder of one warp's stream. The decoder trusts nothing in a file: every number is bounded,
// and every run of instructions must lie within its function.
#include "stream/trace/warp_code.h"

#include "base/error.h"
#include "stream/trace/addresses.h"

namespace simtlab::stream::trace {
namespace {

enum Start : std::uint32_t { behind, at_target, at_distance, elsewhere };
enum Lanes : std::uint8_t { all_lanes, no_lanes, these_lanes, same_lanes, other_lanes };
constexpr std::uint8_t arrival = 8;  // added to Lanes

}  // namespace

CodeView::CodeView(const ptx::Function& f, std::uint32_t n) : function(&f), number(n) {
  for (const ptx::Inst& inst : f.code) {
    const Traits t{has_own_mask(inst),
                   has_addresses(inst),
                   inst.op == ptx::Op::cp_async,
                   inst.op == ptx::Op::bar,
                   inst.op_class == ptx::OpClass::control,
                   inst.op == ptx::Op::atom || inst.op == ptx::Op::red,
                   f.machine != nullptr};
    traits.push_back(t);
    place.push_back(places);
    places += t.addresses ? (t.copy ? 2 : 1) : 0;
  }
  plain.resize(traits.size());
  std::uint32_t ahead = 0;
  for (std::size_t pc = traits.size(); pc-- > 0;) {
    const Traits& t = traits[pc];
    plain[pc] = ahead = t.own_mask || t.addresses || t.barrier || t.control ? 0 : ahead + 1;
  }
}

void WarpEncoder::begin() {
  take();
  states_.clear();
  code_ = nullptr;
  pc_ = target_ = ptx::no_pc;
  active_ = last_mask_ = 0;
  run_ = 0;
}

// run_rest_: the bytes that follow the run's number, which is written when its length is known.
void WarpEncoder::start_run(const CodeView& code, const Step& step) {
  cut();
  run_rest_.clear();
  if (&code != code_) {
    start_ = elsewhere;
    put_number(run_rest_, code.number);
    put_number(run_rest_, step.pc);
    code_ = &code;
    state_ = states_.of(code);
  } else if (step.pc == pc_) {
    start_ = behind;
  } else if (step.pc == target_) {
    start_ = at_target;
  } else {
    start_ = at_distance;
    put_signed(run_rest_, std::uint64_t{step.pc} - pc_);
  }
  if (step.active != active_) {
    start_ |= 4;
    put_u32(run_rest_, step.active);
    active_ = step.active;
  }
}

void WarpEncoder::put_mask(const Step& step) {
  if (step.mask == step.active) return data_.push_back(all_lanes);
  if (step.mask == 0) return data_.push_back(no_lanes);
  if (step.mask == last_mask_) return data_.push_back(same_lanes);
  if (step.mask == (step.active & ~last_mask_)) {
    data_.push_back(other_lanes);
  } else {
    data_.push_back(these_lanes);
    put_u32(data_, step.mask);
  }
  last_mask_ = step.mask;
}

void WarpEncoder::add(const CodeView& code, const Step& step) {
  if (run_ == 0 || step.pc != pc_ || &code != code_ || step.active != active_) start_run(code, step);
  ++run_;
  pc_ = step.pc + 1;
  const ptx::Inst& inst = code.function->code[step.pc];
  const CodeView::Traits traits = code.traits[step.pc];
  if (traits.control) target_ = inst.target;
  if (traits.own_mask) {
    const std::size_t at = data_.size();
    put_mask(step);
    if (traits.machine && step.arrives) data_[at] |= arrival;
  } else {
    SIMTLAB_ASSERT(step.mask == step.active && (!step.arrives || traits.barrier),
                   "only guarded instructions leave lanes out");
  }
  if (step.mask == 0) return;
  if (traits.addresses) {
    AddressState* state = state_ + code.place[step.pc];
    put_addresses(data_, state[0], step.addresses, step.mask, step.space, step.bytes);
    if (traits.copy)
      put_addresses(data_, state[1], step.addresses2, step.mask, ptx::Space::shared, step.bytes);
  } else if (step.arrives) {
    put_number(data_, step.barrier);
    put_number(data_, step.barrier_threads);
  }
}

void WarpEncoder::cut() {
  if (run_ == 0) return;
  put_number(control_, std::uint64_t{run_} << 3 | start_);
  control_.insert(control_.end(), run_rest_.begin(), run_rest_.end());
  run_ = 0;
}

void WarpEncoder::end() {
  cut();
  control_.push_back(0);
}

void WarpDecoder::begin() {
  c_ = {};
  states_.clear();
}

void WarpDecoder::mark(Mark& to) const {
  to.place = c_;
  const std::uint32_t place = c_.code->place[c_.pc],
                      next = c_.pc + 1 < c_.code->place.size() ? c_.code->place[c_.pc + 1] : c_.code->places;
  for (std::uint32_t i = place; i < next; ++i) to.states[i - place] = c_.state[i];
}

void WarpDecoder::undo(const Mark& mark) {
  c_ = mark.place;
  const std::uint32_t place = c_.code->place[c_.pc],
                      next = c_.pc + 1 < c_.code->place.size() ? c_.code->place[c_.pc + 1] : c_.code->places;
  for (std::uint32_t i = place; i < next; ++i) c_.state[i] = mark.states[i - place];
}

void WarpDecoder::start_run(const CodeTable& table) {
  const std::uint64_t number = c_.control.number();
  if (number == 0) {
    if (!c_.ended_well) throw Malformed("a warp ends with an instruction that does not end it");
    c_.exited = true;
    c_.control.end();
    c_.data.end();
    return;
  }
  const auto start = static_cast<std::uint32_t>(number & 3);
  std::uint64_t pc = c_.behind;
  if (start == elsewhere) {
    c_.code = &table.code(static_cast<std::uint32_t>(c_.control.number(0xffffffffu, "a function's number")));
    c_.state = states_.of(*c_.code);
    pc = c_.control.number(0xffffffffu, "a pc");
  } else if (c_.code == nullptr) {
    throw Malformed("a warp starts nowhere");
  } else if (start == at_target) {
    pc = c_.target;
  } else if (start == at_distance) {
    pc = static_cast<std::uint32_t>(c_.behind + c_.control.signed_number());
  }
  if ((number & 4) != 0) c_.active = c_.control.u32();
  const std::uint64_t size = c_.code->traits.size(), length = number >> 3;
  if (length == 0 || pc >= size || length > size - pc)
    throw Malformed("a run of instructions leaves its function");
  c_.pc = static_cast<std::uint32_t>(pc);
  c_.run = static_cast<std::uint32_t>(length);
}

void WarpDecoder::advance(const CodeTable& table) {
  if (c_.run == 0) start_run(table);
}

std::uint32_t WarpDecoder::read_mask(bool& arrives) {
  std::uint8_t lanes = c_.data.byte();
  if (arrives = (lanes & arrival) != 0; arrives) lanes -= arrival;
  switch (lanes) {
    case all_lanes: return c_.active;
    case no_lanes: return 0;
    case these_lanes:
      c_.last_mask = c_.data.u32();
      if ((c_.last_mask & ~c_.active) != 0) throw Malformed("lanes execute that are not active");
      return c_.last_mask;
    case same_lanes: return c_.last_mask & c_.active;
    case other_lanes: return c_.last_mask = c_.active & ~c_.last_mask;
    default: throw Malformed("lanes of an unknown kind");
  }
}

void WarpDecoder::step(Step& out, std::uint64_t* lanes, std::uint64_t* lanes2) {
  const CodeView::Traits traits = c_.code->traits[c_.pc];
  const ptx::Inst& inst = c_.code->function->code[c_.pc];
  out.inst = &inst;
  out.function = c_.code->function;
  out.pc = c_.pc;
  out.active = c_.active;
  out.arrives = false;
  out.mask = traits.own_mask ? read_mask(out.arrives) : c_.active;
  if (out.arrives && (!traits.machine || out.mask == 0 || traits.addresses))
    throw Malformed("an instruction arrives at a barrier that has none");
  if (!traits.machine) out.arrives = traits.barrier && out.mask != 0;
  out.addresses = out.addresses2 = nullptr;
  out.space = inst.mods.space;
  out.bytes = 0;
  out.barrier = out.barrier_threads = 0;
  out.blocked = false;
  if (traits.control) c_.target = inst.target;
  if (out.mask != 0 && traits.addresses) {
    AddressState* state = c_.state + c_.code->place[c_.pc];
    if (get_addresses(c_.data, state[0], lanes, out.mask)) {
      out.addresses = lanes;
      out.space = static_cast<ptx::Space>(state[0].space);
      out.bytes = state[0].bytes;
    }
    if (traits.copy && get_addresses(c_.data, state[1], lanes2, out.mask)) out.addresses2 = lanes2;
  } else if (out.arrives) {
    out.barrier = static_cast<std::uint16_t>(c_.data.number(15, "a barrier's number"));
    out.barrier_threads = static_cast<std::uint16_t>(c_.data.number(1024, "the threads of a barrier"));
  }
  c_.ended_well = traits.control;
  c_.behind = ++c_.pc;
  --c_.run;
}

}  // namespace simtlab::stream::trace
