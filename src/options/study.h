// What a command can be asked for. Every option says which studies read it; where another one is asked for,
// the option is a usage error: an option without effect would be taken for one that has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace simtlab::options {

enum class Study : std::uint8_t {
  // run, cycle by cycle
  time_program,
  time_kernel,
  time_trace,
  run_suite,  // the programs of a folder
  // run --mode functional
  execute_program,
  execute_kernel,
  // check
  check_program,
  check_kernel,
  check_results,  // of earlier runs
  // cache
  cache_program,
  cache_kernel,
  cache_trace,
  // predict
  predict_program,
  predict_kernel,
  predict_trace,
  predict_static,
  predict_counts,
  predict_nest,
  simulate_nest,
  // corun
  mix_alone,
  mix_on_sms,
  mix_cycle,
  interfere_model,
  interfere_kernel,
  interfere_board,
  profile_board,
  // probe
  probe_simulated,
  probe_board,
  probe_curve,
  probe_compare,
  probe_samples,
  // others
  drive_memory,
  show_configuration,
  count_,
};

// "a program in functional mode": what stands in a message.
std::string_view name_of(Study study);

// A set of them.
class Studies {
 public:
  constexpr Studies() = default;
  constexpr Studies(Study study)  // NOLINT: one is a set, too
      : bits_(std::uint64_t{1} << static_cast<unsigned>(study)) {}
  static constexpr Studies all() {
    Studies out;
    out.bits_ = (std::uint64_t{1} << static_cast<unsigned>(Study::count_)) - 1;
    return out;
  }
  // As a number, and back.
  constexpr std::uint64_t bits() const { return bits_; }
  static constexpr Studies of_bits(std::uint64_t bits) {
    Studies out;
    out.bits_ = bits;
    return out;
  }
  constexpr bool contains(Study study) const { return (bits_ & Studies(study).bits_) != 0; }
  constexpr bool one() const { return bits_ != 0 && (bits_ & (bits_ - 1)) == 0; }
  constexpr bool meets(Studies other) const { return (bits_ & other.bits_) != 0; }
  friend constexpr Studies operator|(Studies a, Studies b) {
    Studies out;
    out.bits_ = a.bits_ | b.bits_;
    return out;
  }
  constexpr Studies operator&(Studies other) const {
    Studies out;
    out.bits_ = bits_ & other.bits_;
    return out;
  }
  constexpr bool operator==(const Studies&) const = default;

 private:
  std::uint64_t bits_ = 0;
};
constexpr Studies operator|(Study a, Study b) { return Studies(a) | Studies(b); }

// Those of a command, and what they have in common.
inline constexpr Studies timed = Study::time_program | Study::time_kernel | Studies(Study::time_trace);
inline constexpr Studies executed = Study::execute_program | Study::execute_kernel;
inline constexpr Studies runs = timed | executed;
inline constexpr Studies checked = Study::check_program | Study::check_kernel;
inline constexpr Studies cached = Study::cache_program | Study::cache_kernel | Studies(Study::cache_trace);
inline constexpr Studies predicted =  // from an execution
    Study::predict_program | Study::predict_kernel | Studies(Study::predict_trace);
inline constexpr Studies nests = Study::predict_nest | Study::simulate_nest;
inline constexpr Studies predictions = predicted | nests | Study::predict_static | Study::predict_counts;
inline constexpr Studies mixes = Study::mix_alone | Study::mix_on_sms | Studies(Study::mix_cycle);
inline constexpr Studies interferences =
    Study::interfere_model | Study::interfere_kernel | Studies(Study::interfere_board);
inline constexpr Studies probes = Study::probe_simulated | Study::probe_board | Study::probe_curve |
                                  Study::probe_compare | Study::probe_samples;

}  // namespace simtlab::options
