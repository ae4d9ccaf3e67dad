# The tests load the drop-in libraries as well.
add_dependencies(test_runtime cudart_11 cudart_12 cudart_13)
