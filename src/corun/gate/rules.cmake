# What LD_PRELOAD brings into a gated program (simtlab corun exec): hooks, and nothing else of ours is visible.
file(WRITE ${CMAKE_BINARY_DIR}/generated/corun_preload.cpp "")
add_library(corun_preload SHARED ${CMAKE_BINARY_DIR}/generated/corun_preload.cpp)
set_target_properties(corun_preload PROPERTIES OUTPUT_NAME simtlab_corun NO_SONAME ON LINK_DEPENDS ${CMAKE_SOURCE_DIR}/src/corun/gate/exports.map)
target_link_libraries(corun_preload PRIVATE -Wl,--whole-archive simtlab_corun_gate -Wl,--no-whole-archive)
target_link_options(corun_preload PRIVATE -Wl,-Bsymbolic -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/corun/gate/exports.map)
add_dependencies(simtlab_programs corun_preload)
