# The drop-in CUDA runtime: one set of objects, three libraries that differ in SONAME, version node and the one constant
# that decides structure layouts. bin/ programs find them in lib/ beside it.
foreach(version 11.0 12 13)
  string(REGEX REPLACE "\\..*" "" CUDART_MAJOR ${version})
  set(CUDART_NODE libcudart.so.${version})
  set(generated ${CMAKE_BINARY_DIR}/generated/cudart_${CUDART_MAJOR})
  configure_file(${CMAKE_SOURCE_DIR}/src/hosts/cuda/library_version.cpp.in ${generated}.cpp @ONLY)
  configure_file(${CMAKE_SOURCE_DIR}/src/hosts/cuda/cudart.map.in ${generated}.map @ONLY)
  add_library(cudart_${CUDART_MAJOR} SHARED ${generated}.cpp)
  set_target_properties(cudart_${CUDART_MAJOR} PROPERTIES OUTPUT_NAME cudart SUFFIX .so.${version} NO_SONAME ON
                        LINK_DEPENDS ${generated}.map)
  target_link_libraries(cudart_${CUDART_MAJOR} PRIVATE -Wl,--whole-archive simtlab_hosts_cuda -Wl,--no-whole-archive)
  target_link_options(cudart_${CUDART_MAJOR} PRIVATE -Wl,-soname,${CUDART_NODE} -Wl,--version-script=${generated}.map)
  if(NOT SIMTLAB_SANITIZE)
    target_link_options(cudart_${CUDART_MAJOR} PRIVATE -Wl,-z,defs)  # sanitizer run times come with the program
  endif()
  list(APPEND cudart_targets cudart_${CUDART_MAJOR})
endforeach()
# The driver API on the same state: libcuda.so.1. It stays loaded when a program closes it, as do the others: a GPU and
# its threads live in the one that was called first.
set(CUDART_MAJOR 0)
configure_file(${CMAKE_SOURCE_DIR}/src/hosts/cuda/library_version.cpp.in ${CMAKE_BINARY_DIR}/generated/driver.cpp @ONLY)
add_library(driver SHARED ${CMAKE_BINARY_DIR}/generated/driver.cpp)
set_target_properties(driver PROPERTIES OUTPUT_NAME cuda SUFFIX .so.1 NO_SONAME ON
                      LINK_DEPENDS ${CMAKE_SOURCE_DIR}/src/hosts/cuda/driver.map)
target_link_libraries(driver PRIVATE -Wl,--whole-archive simtlab_hosts_cuda -Wl,--no-whole-archive)
target_link_options(driver PRIVATE -Wl,-soname,libcuda.so.1
                    -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/hosts/cuda/driver.map)
list(APPEND cudart_targets driver)
foreach(target ${cudart_targets})
  target_link_options(${target} PRIVATE -Wl,-z,nodelete)
endforeach()
if(NOT SIMTLAB_SANITIZE)
  target_link_options(driver PRIVATE -Wl,-z,defs)
endif()
add_custom_command(TARGET driver POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink libcuda.so.1 ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libcuda.so VERBATIM)
# For -lcudart.
add_custom_command(TARGET cudart_12 POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink libcudart.so.12 ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libcudart.so VERBATIM)
foreach(target ${cudart_targets})
  add_dependencies(simtlab_programs ${target})
endforeach()
# What compiling and running CUDA sources needs beside the tool.
add_custom_target(simtlab_cuda DEPENDS cudart_12)
if(TARGET optimiser_library)  # kernels are assembled as they stand without it
  add_dependencies(simtlab_cuda optimiser_library)
endif()
if(TARGET simtlab_devmath)
  add_dependencies(simtlab_cuda simtlab_devmath)
endif()
