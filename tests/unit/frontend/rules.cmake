# The device maths sources compile for the host too; they are not held to -Wconversion.
target_include_directories(test_frontend SYSTEM PRIVATE ${CMAKE_SOURCE_DIR}/data/cuda/devmath)
target_compile_definitions(test_frontend PRIVATE SIMTLAB_SOURCE_DATA="${CMAKE_SOURCE_DIR}/data")
