# Recorded traces.
target_link_libraries(simtlab_stream PRIVATE PkgConfig::ZSTD PkgConfig::XXHASH)
