# toml++ compiled into document.cpp, its only user: libcudart.so is loaded into foreign programs and should not bring a
# library of its own along.
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
target_include_directories(simtlab_device SYSTEM PRIVATE ${TOMLPLUSPLUS_INCLUDE_DIR})
target_link_libraries(simtlab_device PRIVATE ${CMAKE_DL_LIBS})
# The last place where data_directory() looks, after $SIMTLAB_DATA and beside the binary.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/device/data_directory.cpp
                            PROPERTIES COMPILE_DEFINITIONS SIMTLAB_DATA_DIRECTORY="${CMAKE_SOURCE_DIR}/data")
