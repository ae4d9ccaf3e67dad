# Compressed traces.
target_link_libraries(simtlab_memory_traffic PRIVATE PkgConfig::ZLIB PkgConfig::ZSTD)
