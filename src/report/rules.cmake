# docs/deviations* is compiled in, so that `simtlab explain D-...` works on a machine without the documentation.
file(GLOB simtlab_deviation_pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/deviations.md ${CMAKE_SOURCE_DIR}/docs/deviations.d/*.md)
list(SORT simtlab_deviation_pages)
string(REPLACE ";" "," simtlab_deviation_inputs "${simtlab_deviation_pages}")
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/generated/deviations.cpp
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${CMAKE_BINARY_DIR}/generated/deviations.cpp "-DINPUTS=${simtlab_deviation_inputs}"
          -P ${CMAKE_SOURCE_DIR}/src/report/deviations.cmake
  DEPENDS ${simtlab_deviation_pages} ${CMAKE_SOURCE_DIR}/src/report/deviations.cmake
  COMMENT "Compiling in docs/deviations" VERBATIM)
target_sources(simtlab_report PRIVATE ${CMAKE_BINARY_DIR}/generated/deviations.cpp)
