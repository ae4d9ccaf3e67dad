// The stream of one warp as bytes, in two parts.
//
// Control stream: runs of instructions that follow each other in the code with the same active lanes. A run
// is one number, length << 3 | (active lanes change) << 2 | where it starts, then what that needs:
//   start 0: behind the last instruction; 1: at the last instruction's branch target; 2: a signed distance
//   from behind the last instruction; 3: function and pc. Changed lanes follow as four bytes. The number 0
//   ends the warp.
// Data stream, instruction by instruction: lanes of those that have a mask of their own (guarded, control,
// barriers), addresses of memory instructions as base + lane * stride, predicted from the same instruction's
// last execution by this warp, barrier numbers. Lanes of machine code run apart: there it is said with the
// lanes whether the warp arrives at a barrier.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "stream/trace/bytes.h"
#include "stream/trace/code.h"
#include "stream/warp_source.h"

namespace simtlab::stream::trace {

// State of a memory instruction between two executions, from which its next addresses are predicted.
struct AddressState {
  std::uint64_t base = 0, step = 0;  // of lane 0 if the lanes follow the pattern; its last change
  std::uint64_t stride = 0, row_stride = 0;
  std::uint8_t row = 5;  // log2 of the lanes in a row; 5: one row; 6: no pattern
  std::uint8_t space = 0;
  std::uint16_t bytes = 0;
};

// A function as the streams need it; shared by all warps of a launch.
struct CodeView {
  const ptx::Function* function = nullptr;
  std::uint32_t number = 0;  // in the trace
  struct Traits {
    bool own_mask, addresses, copy, barrier, control, atomic, machine;
  };
  std::vector<Traits> traits;        // by pc
  std::vector<std::uint32_t> place;  // of its AddressState, by pc
  // By pc: instructions from there on that nothing but the code says anything about
  std::vector<std::uint32_t> plain;
  std::uint32_t places = 0;

  CodeView(const ptx::Function& f, std::uint32_t n);
};

// States of one warp, by function.
class AddressStates {
 public:
  AddressState* of(const CodeView& code) {
    for (auto& [number, states] : all_)
      if (number == code.number) return states.data();
    return all_.emplace_back(code.number, std::vector<AddressState>(code.places)).second.data();
  }
  // As new; allocated memory stays.
  void clear() {
    for (auto& [number, states] : all_) states.assign(states.size(), AddressState{});
  }

 private:
  std::vector<std::pair<std::uint32_t, std::vector<AddressState>>> all_;
};

class WarpEncoder {
 public:
  void begin();
  void add(const CodeView& code, const Step& step);
  void end();  // the warp has exited
  void cut();  // closes the open run: the buffers can then be decoded by themselves
  std::size_t bytes() const { return control_.size() + data_.size(); }
  const Buffer& control() const { return control_; }
  const Buffer& data() const { return data_; }
  void take() { control_.clear(), data_.clear(); }

 private:
  void start_run(const CodeView& code, const Step& step);
  void put_mask(const Step& step);

  Buffer control_, data_;
  AddressStates states_;
  const CodeView* code_ = nullptr;
  AddressState* state_ = nullptr;
  std::uint32_t pc_ = 0, target_ = 0;  // behind the last instruction; its branch target
  std::uint32_t active_ = 0, last_mask_ = 0;
  std::uint32_t run_ = 0, start_ = 0;  // length of the open run, its number without the length
  Buffer run_rest_;
};

// Turns the streams back. `CodeOf` finds functions by their number.
class CodeTable {
 public:
  virtual ~CodeTable() = default;
  virtual const CodeView& code(std::uint32_t number) const = 0;  // throws Malformed
};

class WarpDecoder {
 public:
  void begin();
  void feed(Bytes control, Bytes data) { c_.control = control, c_.data = data; }    // the next part
  bool hungry() const { return !c_.exited && c_.run == 0 && c_.control.at_end(); }  // the part is used up
  // After feed(): finds the next instruction.
  void advance(const CodeTable& table);
  bool exited() const { return c_.exited; }
  Next next() const { return {c_.code->function, c_.pc}; }
  // The instruction at next(); addresses go to `lanes` and `lanes2` (32 each). Afterwards advance() unless
  // hungry().
  void step(Step& out, std::uint64_t* lanes, std::uint64_t* lanes2);
  const CodeView& code() const { return *c_.code; }
  const CodeView::Traits& traits() const { return c_.code->traits[c_.pc]; }
  const ptx::Inst& inst() const { return c_.code->function->code[c_.pc]; }

  // Up to `most` instructions at once of which the data stream says nothing. Afterwards advance() unless
  // hungry().
  std::uint32_t skip_plain(std::uint32_t most) {
    const std::uint32_t count = std::min({most, c_.run, c_.code->plain[c_.pc]});
    if (count == 0) return 0;
    c_.behind = c_.pc += count;
    c_.run -= count;
    c_.ended_well = false;
    return count;
  }
  std::uint32_t active() const { return c_.active; }

  // Where the decoder is, but for the places of the address states that the next instruction changes.
  struct Place {
    Bytes control, data;
    const CodeView* code = nullptr;
    AddressState* state = nullptr;
    std::uint32_t pc = ptx::no_pc, behind = ptx::no_pc, target = ptx::no_pc;
    std::uint32_t active = 0, last_mask = 0;
    std::uint32_t run = 0;
    bool exited = false, ended_well = false;
  };
  // For an instruction that may turn out not to happen yet: undo() takes the step after mark() back.
  struct Mark {
    Place place;
    AddressState states[2];
  };
  void mark(Mark& to) const;
  void undo(const Mark& mark);

 private:
  void start_run(const CodeTable& table);
  std::uint32_t read_mask(bool& arrives);

  Place c_;
  AddressStates states_;
};

}  // namespace simtlab::stream::trace
