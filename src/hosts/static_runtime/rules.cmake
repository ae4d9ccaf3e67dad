# Loaded by LD_PRELOAD into programs that have NVIDIA's runtime linked in. The constructors of libraries run before those
# of the program, which register its kernels. Every program that `simtlab run` starts gets it, and those that they start:
# it brings no library along that a program may have in another version.
configure_file(${CMAKE_SOURCE_DIR}/src/hosts/static_runtime/entry.cpp.in ${CMAKE_BINARY_DIR}/generated/static_runtime.cpp COPYONLY)
add_library(static_runtime SHARED ${CMAKE_BINARY_DIR}/generated/static_runtime.cpp)
set_target_properties(static_runtime PROPERTIES OUTPUT_NAME simtlab_static_runtime)
target_link_libraries(static_runtime PRIVATE simtlab_hosts_static_runtime)
target_link_options(static_runtime PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed LINKER:--exclude-libs,ALL)
add_dependencies(simtlab_programs static_runtime)
