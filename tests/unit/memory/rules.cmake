# The policies of the guide, and one of each kind that writes down its events: what simtlab is built with may be any, so the tests bring them. What holds for every scheduler and
# page policy is tested with them in the lists; what a program defines itself, its linker does not take from a library.
set(examples ${CMAKE_SOURCE_DIR}/examples/extend ${CMAKE_SOURCE_DIR}/tests/unit/memory/witness)
simtlab_write_registries(${CMAKE_BINARY_DIR}/generated/test_memory ${examples})
set(example_sources)
foreach(folder ${examples})
  file(GLOB_RECURSE sources_of_folder CONFIGURE_DEPENDS ${folder}/memory/*.cpp)
  list(APPEND example_sources ${sources_of_folder})
endforeach()
set(list_sources ${CMAKE_BINARY_DIR}/generated/test_memory/memory_dram_schedulers.cpp ${CMAKE_BINARY_DIR}/generated/test_memory/memory_page_policies.cpp)
target_include_directories(test_memory PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit/memory)
target_sources(test_memory PRIVATE ${example_sources} ${list_sources})
set_source_files_properties(${example_sources} ${list_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
