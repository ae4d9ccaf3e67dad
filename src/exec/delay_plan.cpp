// What each instruction of a kernel reads and writes, when and for whom.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "exec/delays.h"

namespace simtlab::exec {
namespace {

using machine::ResultReader;
using machine::ResultSource;

class PlanBuilder {
 public:
  PlanBuilder(const machine::Code& code, const machine::Action& action,
              const machine::Instruction& instruction, const ptx::Inst& view)
      : code_(code), action_(action), instruction_(instruction), view_(view) {}

  DelayStep build() {
    const machine::Control& control = instruction_.control;
    step_.stall = control.stall;
    step_.waits = static_cast<std::uint8_t>(control.wait_mask | machine::waited_scoreboards(instruction_));
    step_.partial = machine::partial_wait(instruction_);
    step_.unit = machine::unit_of(instruction_);
    step_.write_scoreboard = control.write_barrier;
    step_.read_scoreboard = control.read_barrier;
    read(view_.guard, ResultReader::guard);
    const ResultReader reader = machine::reader_of(instruction_);
    const ResultReader of_predicate = machine::predicate_reader_of(instruction_);
    for (const ptx::Inst& operation : code_.of(action_)) {
      for (unsigned i = 0; i < operation.src_count; ++i)
        read(operation.src[i], operation.src[i].kind == ptx::OperandKind::pred ? of_predicate : reader);
      read(operation.guard, ResultReader::guard);
      for (unsigned i = 0; i < operation.dst_count; ++i) write(operation.dst[i]);
    }
    read(action_.operand, reader);
    read(action_.condition, ResultReader::guard);
    write(action_.result);
    if (action_.flow == machine::Flow::block_barrier)
      for (unsigned i = 0; i < view_.src_count; ++i) read(view_.src[i], reader);
    step_.reads_all =
        action_.flow == machine::Flow::branch_register || action_.flow == machine::Flow::call_register;
    return std::move(step_);
  }

 private:
  // Calls each(place) for what an operand of an operation stands for, but for intermediate values.
  template <class F>
  void places_of(const ptx::Operand& operand, F&& each) const {
    if (operand.kind == ptx::OperandKind::pred && operand.index < machine::Layout::predicates)
      each(static_cast<Place>(first_predicate_place + operand.index));
    if (operand.kind != ptx::OperandKind::reg) return;
    const unsigned rows = std::max<unsigned>(1, operand.bytes / 4u);
    for (unsigned i = 0; i < rows; ++i)
      if (operand.index + i < code_.layout.temporary) each(static_cast<Place>(operand.index + i));
  }

  // ATOM, ATOM.F; not ATOMG, ATOMS
  bool is_generic_atomic() const {
    const std::string_view name = instruction_.mnemonic();
    return name == "ATOM" || name.starts_with("ATOM.");
  }

  bool is_written(Place place) const {
    return std::ranges::any_of(step_.writes, [&](const DelayStep::Write& w) { return w.place == place; });
  }

  void read(const ptx::Operand& operand, ResultReader reader) {
    places_of(operand, [&](Place place) {
      const auto same = [&](const DelayStep::Read& r) { return r.place == place && r.reader == reader; };
      if (!is_written(place) && std::ranges::none_of(step_.reads, same))
        step_.reads.push_back({place, reader});
    });
  }

  void write(const ptx::Operand& operand) {
    places_of(operand, [&](Place place) {
      if (is_written(place)) return;
      const bool second =
          std::ranges::any_of(step_.writes, [&](const DelayStep::Write& w) { return w.place + 1 == place; });
      // Whether a generic address is that of shared memory is known before the atomic acts.
      const bool early =
          is_generic_atomic() && place >= first_predicate_place && step_.read_scoreboard != no_scoreboard;
      step_.writes.push_back({place, machine::source_of(instruction_, second), early});
    });
  }

  const machine::Code& code_;
  const machine::Action& action_;
  const machine::Instruction& instruction_;
  const ptx::Inst& view_;
  DelayStep step_;
};

}  // namespace

DelayPlan::DelayPlan(const ptx::Function& function) : code_(*function.machine) {
  steps_.reserve(code_.actions.size() + 1);
  for (std::size_t i = 0; i < code_.actions.size(); ++i)
    steps_.push_back(PlanBuilder(code_, code_.actions[i], code_.instructions[i], function.code[i]).build());
  steps_.emplace_back();  // behind the last instruction is a trap
}

bool DelayPlan::is_uniform(Place place) const {
  if (place >= first_predicate_place)
    return place >= first_predicate_place + machine::Layout::uniform_predicate;
  return place >= code_.layout.uniform;
}

unsigned DelayPlan::latency(Place place, ResultSource source, ResultReader reader) const {
  if (source != ResultSource::variable && is_uniform(place)) return machine::uniform_latency(source, reader);
  return place >= first_predicate_place ? machine::predicate_latency(code_.generation, source, reader)
                                        : machine::register_latency(code_.generation, source, reader);
}

std::string DelayPlan::name_of(Place place) const {
  const char* const uniform = is_uniform(place) ? "U" : "";
  if (place >= first_predicate_place) {
    const unsigned number = place - first_predicate_place;
    return fmt::format("{}P{}", uniform, number % machine::Layout::uniform_predicate);
  }
  return fmt::format("{}R{}", uniform, *uniform != 0 ? place - code_.layout.uniform : place);
}

}  // namespace simtlab::exec
