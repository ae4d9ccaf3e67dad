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
# For -lcudart.
add_custom_command(TARGET cudart_12 POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink libcudart.so.12 ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libcudart.so VERBATIM)
foreach(target ${cudart_targets})
  add_dependencies(simtlab_programs ${target})
endforeach()
# What compiling and running CUDA sources needs beside the tool.
add_custom_target(simtlab_cuda DEPENDS cudart_12)
if(TARGET simtlab_devmath)
  add_dependencies(simtlab_cuda simtlab_devmath)
endif()
