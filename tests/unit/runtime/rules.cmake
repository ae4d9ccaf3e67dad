# The tests load the drop-in libraries as well.
add_dependencies(test_runtime cudart_11 cudart_12 cudart_13)
# They call its functions by name, with types of their own that agree in the ABI only.
if(SIMTLAB_SANITIZE MATCHES "undefined")
  target_compile_options(test_runtime PRIVATE -fno-sanitize=function)
endif()
