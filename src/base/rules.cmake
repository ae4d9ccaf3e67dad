target_link_libraries(simtlab_base PRIVATE PkgConfig::XXHASH)
# toml++ (base/toml.h) is compiled into its few users: libcudart.so is loaded into foreign programs and should not bring
# a library of its own along.
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
target_include_directories(simtlab_base SYSTEM PUBLIC ${TOMLPLUSPLUS_INCLUDE_DIR})
