# toml++ is header-only; only document.cpp includes it.
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
target_link_libraries(simtlab_device PRIVATE PkgConfig::TOMLPLUSPLUS ${CMAKE_DL_LIBS})
# The last place where catalogue.cpp looks for the data files, after $SIMTLAB_DATA and beside the binary.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/device/data_directory.cpp
                            PROPERTIES COMPILE_DEFINITIONS SIMTLAB_DATA_DIRECTORY="${CMAKE_SOURCE_DIR}/data")
