target_link_libraries(test_exec PRIVATE simtlab_optimiser simtlab_assembler)
if(TARGET optimiser_library)
  add_dependencies(test_exec optimiser_library)
endif()
