# The tests load the drop-in libraries as well.
add_dependencies(test_hosts_cuda cudart_11 cudart_12 cudart_13 driver)
# They call its functions by name, with types of their own that agree in the ABI only. (A source's options come last.)
if(SIMTLAB_SANITIZE MATCHES "undefined")
  set_source_files_properties(${folder}/libraries_test.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=function)
endif()
