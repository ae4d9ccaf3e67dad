# Instruction handlers: every src/exec/arith/*.cpp and src/exec/memops/*.cpp is compiled once per instruction set.
#
# Each of these files puts all it defines in `namespace simtlab::exec::SIMTLAB_ISA { ... }`, where the build defines
#   SIMTLAB_ISA           baseline | avx2 | avx512 (a bare name)
#   SIMTLAB_VECTOR_BYTES  16 | 32 | 64: the widest vector worth using
# and one file of each family defines select_arithmetic / select_memory of that namespace (exec/warp.h). Helpers that
# several files share belong in headers beside them, in the same namespace. No std:: template may be instantiated there and no
# inline function of a common header called unless it is always_inline: the linker keeps one copy of such a function for the
# whole program and it might be the AVX-512 one. They're optimised in debug builds too, for the same reason (and for speed).
# On hosts other than x86-64 only `baseline` exists; exec/isa.cpp knows (SIMTLAB_X86_HANDLERS).
get_target_property(simtlab_exec_sources simtlab_exec SOURCES)
set(simtlab_handler_sources ${simtlab_exec_sources})
list(FILTER simtlab_handler_sources INCLUDE REGEX "/exec/(arith|memops)/")
list(FILTER simtlab_exec_sources EXCLUDE REGEX "/exec/(arith|memops)/")
set_property(TARGET simtlab_exec PROPERTY SOURCES ${simtlab_exec_sources})

# Under sanitizers only baseline, unless SIMTLAB_EVERY_ISA is given: the others are the same sources.
option(SIMTLAB_EVERY_ISA "Instruction handlers for AVX2 and AVX-512 under sanitizers, too" OFF)
set(simtlab_isas baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64" AND (NOT SIMTLAB_SANITIZE OR SIMTLAB_EVERY_ISA))
  list(APPEND simtlab_isas avx2 avx512)
  target_compile_definitions(simtlab_exec PUBLIC SIMTLAB_X86_HANDLERS=1)
endif()
set(simtlab_bytes_baseline 16)
set(simtlab_bytes_avx2 32)
set(simtlab_bytes_avx512 64)
set(simtlab_flags_baseline)
set(simtlab_flags_avx2 -mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt -mf16c)
set(simtlab_flags_avx512 ${simtlab_flags_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)

if(simtlab_handler_sources)
  foreach(isa ${simtlab_isas})
    add_library(simtlab_exec_${isa} OBJECT ${simtlab_handler_sources})
    target_link_libraries(simtlab_exec_${isa} PRIVATE simtlab_flags)
    target_compile_definitions(simtlab_exec_${isa} PRIVATE SIMTLAB_ISA=${isa} SIMTLAB_VECTOR_BYTES=${simtlab_bytes_${isa}})
    # -Wno-psabi: vectors as arguments of our own internal functions; their ABI between compilers is of no concern.
    target_compile_options(simtlab_exec_${isa} PRIVATE $<$<CONFIG:Debug>:-O2> -ffp-contract=off -Wno-psabi ${simtlab_flags_${isa}})
    target_sources(simtlab_exec PRIVATE $<TARGET_OBJECTS:simtlab_exec_${isa}>)
  endforeach()
endif()
