target_link_libraries(test_traffic PRIVATE PkgConfig::ZLIB PkgConfig::ZSTD)
