find_package(SQLite3 REQUIRED)
target_link_libraries(simtlab_studies_sweep PRIVATE SQLite::SQLite3 PkgConfig::ZSTD)
