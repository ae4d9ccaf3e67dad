# What is one source file each: cache policies, DRAM schedulers, page policies, warp schedulers, orders and prefetchers of cache studies, co-run policies, probes. The build makes their lists from the names of the files, in the
# order of the names, so that a new one is a new file and nothing registers itself when a program starts (which static libraries would lose).
#
# -DSIMTLAB_EXTENSIONS=FOLDER[;FOLDER]: such files outside this tree. A folder is laid out like src/: FOLDER/memory/policies/replace_mine.cpp.
set(SIMTLAB_EXTENSIONS "" CACHE STRING "Folders, laid out like src/, with further policies and probes (docs/guide/extending.md)")

get_filename_component(simtlab_root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
# A build looks again whether there are new files; a script (tests/e2e/test_extend.py) can't.
set(simtlab_watch CONFIGURE_DEPENDS)
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  set(simtlab_watch)
endif()

# simtlab_registered(PATTERN OUT FOLDER...): NAME/PATH/TO/FILE of every file of a kind, sorted by name.
function(simtlab_registered pattern out)
  set(entries)
  set(names)
  get_filename_component(prefix ${pattern} NAME_WE)   # "replace_*" or "*"
  string(REPLACE "*" "" prefix ${prefix})
  string(LENGTH "${prefix}" beginning)
  foreach(folder ${ARGN})
    file(GLOB files ${simtlab_watch} ${folder}/${pattern})
    foreach(file ${files})
      get_filename_component(name ${file} NAME_WE)
      string(SUBSTRING ${name} ${beginning} -1 name)
      if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
        message(FATAL_ERROR "${file}: the file's name is the policy's: lower-case letters, digits and underscores, a letter first")
      endif()
      if(name IN_LIST names)
        message(FATAL_ERROR "${file}: there is another ${name} already; give the file another name")
      endif()
      list(APPEND names ${name})
      list(APPEND entries "${name}${file}")
    endforeach()
  endforeach()
  list(SORT entries)
  set(${out} ${entries} PARENT_SCOPE)
endfunction()

# simtlab_registry(OUTPUT PATTERN HEADER NAMESPACE TYPE SYMBOL FUNCTION FOLDER...): a source whose FUNCTION gives what the files define as SYMBOL_name.
function(simtlab_registry output pattern header namespace type symbol function)
  simtlab_registered(${pattern} entries ${ARGN})
  set(declarations)
  set(rows)
  foreach(entry ${entries})
    string(REGEX REPLACE "/.*" "" name ${entry})
    string(APPEND declarations "extern const ${type} ${symbol}_${name};\n")
    if(function MATCHES "^named ")
      string(APPEND rows "    {\"${name}\", &${symbol}_${name}},\n")
    else()
      string(APPEND rows "    &${symbol}_${name},\n")
    endif()
  endforeach()
  if(function MATCHES "^named (.*)")
    set(element "Named<${type}>")
    set(signature "std::span<const Named<${type}>> ${CMAKE_MATCH_1}()")
  else()
    set(element "const ${type}*")
    set(signature "std::span<const ${type}* const> ${function}()")
  endif()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Made by cmake/registry.cmake from the names of the files ${pattern}.
#include \"${header}\"

namespace simtlab::${namespace} {

${declarations}
namespace {

constexpr ${element} all[] = {
${rows}};

}  // namespace

${signature} { return all; }

}  // namespace simtlab::${namespace}
")
endfunction()

# The names alone, for the layer that reads device files.
function(simtlab_names out pattern function)
  simtlab_registered(${pattern} entries ${ARGN})
  list(TRANSFORM entries REPLACE "/.*" "")
  list(JOIN entries "\", \"" joined)
  set(${out} "${${out}}
std::span<const std::string_view> ${function}() {
  static constexpr std::string_view all[] = {\"${joined}\"};
  return all;
}
" PARENT_SCOPE)
endfunction()

# The parameters that policies declare in their files, as calls of whole_parameter() or real_parameter() with literals
# (src/device/scheduler_parameter.h): a function that lists them with the policies' names.
function(simtlab_parameters out pattern function)
  simtlab_registered(${pattern} entries ${ARGN})
  set(rows)
  foreach(entry ${entries})
    string(REGEX REPLACE "/.*" "" name ${entry})
    string(FIND ${entry} "/" slash)
    string(SUBSTRING ${entry} ${slash} -1 path)
    if(NOT CMAKE_SCRIPT_MODE_FILE)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    endif()
    file(READ ${path} text)
    # Characters that mean something in lists of this language.
    string(REPLACE ";" "@semicolon@" text "${text}")
    string(REPLACE "[" "@open@" text "${text}")
    string(REPLACE "]" "@close@" text "${text}")
    string(REGEX MATCHALL "[^a-z_](whole|real)_parameter\\(([^()\"]|\"[^\"]*\")*\\)" calls "${text}")
    foreach(call ${calls})
      string(SUBSTRING "${call}" 1 -1 call)
      string(APPEND rows "    {\"${name}\", ${call}},\n")
    endforeach()
  endforeach()
  string(REPLACE "@semicolon@" ";" rows "${rows}")
  string(REPLACE "@open@" "[" rows "${rows}")
  string(REPLACE "@close@" "]" rows "${rows}")
  if(rows)
    set(rows "
  static constexpr OwnedParameter all[] = {
${rows}  };
  return all;
")
  else()
    set(rows " return {}; ")
  endif()
  set(${out} "${${out}}
std::span<const OwnedParameter> ${function}() {${rows}}
" PARENT_SCOPE)
endfunction()

# simtlab_write_registries(FOLDER EXTENSION...): all lists, FOLDER/LAYER_*.cpp. Nothing else may stand in these sources: a program that brings other
# lists (tests/extend) leaves those of the libraries out.
function(simtlab_write_registries output)
  set(folders ${simtlab_root}/src ${ARGN})
  simtlab_registry(${output}/memory_replacements.cpp memory/policies/replace_*.cpp memory/replacement.h memory ReplacementRule replace "named replacement_rules" ${folders})
  simtlab_registry(${output}/memory_set_indexes.cpp memory/policies/index_*.cpp memory/set_index.h memory SetIndexRule index "named set_index_rules" ${folders})
  simtlab_registry(${output}/memory_dram_schedulers.cpp memory/dram/schedulers/*.cpp memory/dram/scheduler.h memory::dram SchedulerRule scheduler "named scheduler_rules" ${folders})
  simtlab_registry(${output}/memory_page_policies.cpp memory/dram/page_policies/*.cpp memory/dram/page_policy.h memory::dram PagePolicyRule page "named page_policy_rules" ${folders})
  simtlab_registry(${output}/timing_schedulers.cpp timing/schedulers/*.cpp timing/scheduler.h timing SchedulerPolicy scheduler "named scheduler_policies" ${folders})
  simtlab_registry(${output}/cache_orders.cpp cache/orders/*.cpp cache/order.h cache OrderPolicy order "named order_policies" ${folders})
  simtlab_registry(${output}/cache_prefetchers.cpp cache/prefetchers/*.cpp cache/prefetcher.h cache PrefetchPolicy prefetcher prefetch_policies ${folders})
  simtlab_registry(${output}/corun_policies.cpp corun/policies/*.cpp corun/policy.h corun Policy policy policies ${folders})
  simtlab_registry(${output}/probe_kinds.cpp probe/kinds/*.cpp probe/kinds.h probe Kind kind registered_kinds ${folders})
  set(functions)
  simtlab_names(functions memory/policies/replace_*.cpp replacement_names ${folders})
  simtlab_names(functions memory/policies/index_*.cpp set_index_names ${folders})
  simtlab_names(functions timing/schedulers/*.cpp scheduler_names ${folders})
  simtlab_parameters(functions timing/schedulers/*.cpp scheduler_parameters ${folders})
  file(CONFIGURE OUTPUT ${output}/device_policies.cpp @ONLY CONTENT
"// Made by cmake/registry.cmake from the names of files.
#include \"device/policy_names.h\"
#include \"device/scheduler_parameter.h\"

namespace simtlab::device {
${functions}
}  // namespace simtlab::device
")
endfunction()

# Every file of an extension belongs to a layer.
function(simtlab_check_extensions)
  foreach(folder ${SIMTLAB_EXTENSIONS})
    get_filename_component(absolute ${folder} ABSOLUTE BASE_DIR ${simtlab_root})
    if(NOT IS_DIRECTORY ${absolute})
      message(FATAL_ERROR "SIMTLAB_EXTENSIONS: ${absolute} is no folder")
    endif()
    file(GLOB_RECURSE files RELATIVE ${absolute} ${simtlab_watch} ${absolute}/*.cpp)
    if(NOT files)
      message(FATAL_ERROR "SIMTLAB_EXTENSIONS: no source file in ${absolute}; a folder is laid out like src/: memory/policies/replace_mine.cpp")
    endif()
    foreach(file ${files})
      if(NOT file MATCHES "^(memory/policies/(replace|index)_[^/]+|memory/dram/(schedulers|page_policies)/[^/]+|timing/schedulers/[^/]+|cache/(orders|prefetchers)/[^/]+|corun/policies/[^/]+|probe/kinds/[^/]+)\\.cpp$")
        message(FATAL_ERROR "SIMTLAB_EXTENSIONS: ${absolute}/${file} is none of memory/policies/replace_NAME.cpp, memory/policies/index_NAME.cpp, memory/dram/schedulers/NAME.cpp, memory/dram/page_policies/NAME.cpp, "
                            "timing/schedulers/NAME.cpp, cache/orders/NAME.cpp, cache/prefetchers/NAME.cpp, corun/policies/NAME.cpp, probe/kinds/NAME.cpp")
      endif()
    endforeach()
    list(APPEND folders ${absolute})
  endforeach()
  set(simtlab_extensions ${folders} PARENT_SCOPE)
endfunction()

simtlab_check_extensions()
simtlab_write_registries(${CMAKE_BINARY_DIR}/generated/registry ${simtlab_extensions})

# Further sources of a layer: its lists, and files of extensions. Compiled one by one: their names may stand elsewhere, too.
function(simtlab_registered_sources layer out)
  file(GLOB sources ${simtlab_watch} ${CMAKE_BINARY_DIR}/generated/registry/${layer}_*.cpp)
  foreach(folder ${simtlab_extensions})
    file(GLOB_RECURSE more ${simtlab_watch} ${folder}/${layer}/*.cpp)
    list(APPEND sources ${more})
  endforeach()
  if(sources)
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
