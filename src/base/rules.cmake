target_link_libraries(simtlab_base PRIVATE PkgConfig::XXHASH)
