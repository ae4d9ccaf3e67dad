# Recorded traces; Accel-Sim's may be compressed with xz.
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)
target_link_libraries(simtlab_stream PRIVATE PkgConfig::ZSTD PkgConfig::XXHASH PkgConfig::LZMA)
