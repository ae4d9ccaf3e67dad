#include "exec/isa.h"

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "exec/executor.h"

namespace simtlab::exec {
namespace {

bool has(Isa isa) {
#ifdef SIMTLAB_X86_HANDLERS
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("popcnt");
  switch (isa) {
    case Isa::baseline: return true;
    case Isa::avx2: return avx2;
    case Isa::avx512:
      return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
  return false;
#else
  return isa == Isa::baseline;
#endif
}

}  // namespace

std::string_view name_of(Isa isa) {
  switch (isa) {
    case Isa::baseline: return "baseline";
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
  }
  return "unknown";
}

Isa choose_isa() {
  constexpr Isa best_first[] = {Isa::avx512, Isa::avx2, Isa::baseline};
  const char* wanted = std::getenv("SIMTLAB_ISA");
  const std::string name = wanted == nullptr ? "" : wanted;
  for (const Isa isa : best_first) {
    if (name.empty() ? has(isa) : name == name_of(isa)) {
      if (has(isa)) return isa;
      throw Error(ExitCode::usage, "config-isa", "SIMTLAB_ISA=" + name + ": this processor lacks it",
                  "leave SIMTLAB_ISA unset to use the best set that the processor has");
    }
  }
  throw Error(ExitCode::usage, "config-isa", "SIMTLAB_ISA=" + name + " is not an instruction set",
              "use baseline, avx2 or avx512");
}

std::string_view instruction_set() { return name_of(choose_isa()); }

Handler select_handler(Isa isa, const ptx::Inst& inst) {
  Handler found = nullptr;
#ifdef SIMTLAB_X86_HANDLERS
  if (isa == Isa::avx512) {
    found = avx512::select_memory(inst);
    return found != nullptr ? found : avx512::select_arithmetic(inst);
  }
  if (isa == Isa::avx2) {
    found = avx2::select_memory(inst);
    return found != nullptr ? found : avx2::select_arithmetic(inst);
  }
#endif
  static_cast<void>(isa);
  found = baseline::select_memory(inst);
  return found != nullptr ? found : baseline::select_arithmetic(inst);
}

LookHandler look_handler(Isa isa) {
#ifdef SIMTLAB_X86_HANDLERS
  if (isa == Isa::avx512) return avx512::look;
  if (isa == Isa::avx2) return avx2::look;
#endif
  static_cast<void>(isa);
  return baseline::look;
}

}  // namespace simtlab::exec
