target_link_libraries(test_memory_traffic PRIVATE PkgConfig::ZLIB PkgConfig::ZSTD)
