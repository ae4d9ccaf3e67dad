# Running a program needs the drop-in library beside it, even if the program uses no GPU.
add_dependencies(test_api cudart_12)
