# The device maths sources compile for the host too; they are not held to -Wconversion.
target_include_directories(test_compile SYSTEM PRIVATE ${CMAKE_SOURCE_DIR}/data/cuda/devmath)
target_compile_definitions(test_compile PRIVATE SIMTLAB_SOURCE_DATA="${CMAKE_SOURCE_DIR}/data")
# The fat binary tests write compressed images themselves.
target_link_libraries(test_compile PRIVATE PkgConfig::ZSTD PkgConfig::LZ4)
