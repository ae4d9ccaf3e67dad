# dlopen, for memory plug-ins.
target_link_libraries(simtlab_memory PRIVATE ${CMAKE_DL_LIBS})
