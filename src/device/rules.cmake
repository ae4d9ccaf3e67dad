target_link_libraries(simtlab_device PRIVATE ${CMAKE_DL_LIBS})
# The last place where data_directory() looks, after $SIMTLAB_DATA and beside the binary.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/device/data_directory.cpp
                            PROPERTIES COMPILE_DEFINITIONS SIMTLAB_DATA_DIRECTORY="${CMAKE_SOURCE_DIR}/data")
# What a controller file may say depends on the policies that there are and on their parameters, which are declared in the files
# of the policies (memory/dram/schedulers, page_policies). device/ includes nothing of memory/; the linker brings the lists.
target_link_libraries(simtlab_device PRIVATE simtlab_memory)
