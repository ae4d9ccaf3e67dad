# Compressed traces.
target_link_libraries(simtlab_traffic PRIVATE PkgConfig::ZLIB PkgConfig::ZSTD)
