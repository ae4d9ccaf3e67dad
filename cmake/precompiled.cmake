# What makes a whole build shorter without changing what is tested: precompiled headers, sources compiled together, and how far code that is not
# hot is optimised.
#
# Precompiled headers are for clang (the sanitizer builds) and, with g++, for the unit tests: g++ 12 forgets which of them are system headers and
# warns about some of what the layers use of them. They are left out where ccache compiles: it can't cache what depends on them, and it saves more.
set(simtlab_ccache OFF)
if("${CMAKE_CXX_COMPILER_LAUNCHER}$ENV{CMAKE_CXX_COMPILER_LAUNCHER}" MATCHES "ccache")
  set(simtlab_ccache ON)
endif()
set(simtlab_precompile ON)
if(simtlab_ccache OR NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang|GNU")
  set(simtlab_precompile OFF)
endif()
option(SIMTLAB_PRECOMPILE "Precompiled headers (default: on, unless ccache is used)" ${simtlab_precompile})

# Several sources at once: a build from nothing takes less than half of the time. The presets debug and clang compile each source alone, which
# finds what a source forgot to include.
option(SIMTLAB_UNITY "Compile several sources at once; without effect with ccache" ON)
function(simtlab_compile_together target sources_at_once)
  if(SIMTLAB_UNITY AND NOT simtlab_ccache)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${sources_at_once})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")   # a source that another includes is taken for a header
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# Tests, and the layers that run once a command: their code is short-lived, and compiling it well takes longer than running it. Under sanitizers
# that holds for more of them.
set(simtlab_quick_options $<$<CONFIG:Release>:-O1>)
set(simtlab_brief_options)
if(SIMTLAB_SANITIZE)
  set(simtlab_quick_options -O0)
  set(simtlab_brief_options -O0)
endif()

# One precompiled header for all targets of a group: they are compiled with the same options.
function(simtlab_precompiled_group group)
  cmake_parse_arguments(ARG "" "POSITION_INDEPENDENT" "HEADERS;OPTIONS;LIBRARIES" ${ARGN})
  if(NOT SIMTLAB_PRECOMPILE OR (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT group STREQUAL "tests"))
    return()
  endif()
  set(source ${CMAKE_BINARY_DIR}/generated/precompiled_${group}.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "// Holds the headers that others use.\n")
  endif()
  add_library(simtlab_precompiled_${group} OBJECT ${source})
  target_link_libraries(simtlab_precompiled_${group} PRIVATE simtlab_flags ${ARG_LIBRARIES})
  target_compile_options(simtlab_precompiled_${group} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(simtlab_precompiled_${group} PRIVATE ${ARG_HEADERS})
  set_target_properties(simtlab_precompiled_${group} PROPERTIES POSITION_INDEPENDENT_CODE ${ARG_POSITION_INDEPENDENT} PCH_INSTANTIATE_TEMPLATES ON)
endfunction()

function(simtlab_use_precompiled target group)
  if(TARGET simtlab_precompiled_${group})
    get_target_property(independent simtlab_precompiled_${group} POSITION_INDEPENDENT_CODE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ${independent})
    target_precompile_headers(${target} REUSE_FROM simtlab_precompiled_${group})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # False alarms about the copies inside std::string, which g++ 12 no longer takes for a system header's code here.
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
  endif()
endfunction()

set(simtlab_common_headers <algorithm> <array> <bit> <cstdint> <filesystem> <functional> <map> <memory> <optional> <span> <string>
    <string_view> <vector> <fmt/format.h>)

# Coverage feedback for libFuzzer, in the layers only: not in instruction handlers and not in tests.
set(simtlab_fuzz_options)
if(SIMTLAB_FUZZ)
  set(simtlab_fuzz_options -fsanitize=fuzzer-no-link)
endif()
simtlab_precompiled_group(layers POSITION_INDEPENDENT ON HEADERS ${simtlab_common_headers} OPTIONS ${simtlab_fuzz_options})
simtlab_precompiled_group(cold POSITION_INDEPENDENT ON HEADERS ${simtlab_common_headers} OPTIONS ${simtlab_quick_options})
simtlab_precompiled_group(brief POSITION_INDEPENDENT ON HEADERS ${simtlab_common_headers} OPTIONS ${simtlab_brief_options})
simtlab_precompiled_group(cli POSITION_INDEPENDENT ON HEADERS ${simtlab_common_headers} <CLI/CLI.hpp> OPTIONS ${simtlab_quick_options})
