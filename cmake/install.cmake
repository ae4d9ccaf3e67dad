# `cmake --install build/release [--prefix DIR] [--component NAME]`: the tool (component tool), the library (library), Python's module (python).
# All of it finds its data relative to itself, so the folder may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME tool)

install(TARGETS simtlab RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET simtlab-loops)
  install(TARGETS simtlab-loops RUNTIME DESTINATION libexec/simtlab COMPONENT loops)
endif()
# What the tool puts before a program's own libraries: in a folder that no loader searches by itself.
foreach(target cudart_11 cudart_12 cudart_13 driver static_runtime optimiser_library opencl_icd corun_preload)
  if(TARGET ${target})
    install(TARGETS ${target} LIBRARY DESTINATION lib/simtlab)
  endif()
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/lib/libcudart.so ${CMAKE_BINARY_DIR}/lib/libcuda.so DESTINATION lib/simtlab)
if(TARGET opencl_icd)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/opencl-vendors DESTINATION lib/simtlab)
endif()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/data/ DESTINATION share/simtlab/data)
if(TARGET simtlab_devmath)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/simtlab/cuda DESTINATION share/simtlab)
endif()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs ${CMAKE_SOURCE_DIR}/examples DESTINATION share/doc/simtlab)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/CITATION.cff DESTINATION share/doc/simtlab)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/simtlab RENAME copyright)

# Man pages and completions: printed by the tool itself.
set(simtlab_manuals ${CMAKE_BINARY_DIR}/generated/manuals)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_custom_command(
  OUTPUT ${simtlab_manuals}/done
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tools/manuals.py $<TARGET_FILE:simtlab> ${simtlab_manuals}
  DEPENDS simtlab ${CMAKE_SOURCE_DIR}/tools/manuals.py COMMENT "Man pages and completions" VERBATIM)
add_custom_target(simtlab_manuals ALL DEPENDS ${simtlab_manuals}/done)
add_dependencies(simtlab_programs simtlab_manuals)
install(DIRECTORY ${simtlab_manuals}/share/ DESTINATION share)

if(TARGET simtlab_shared)
  install(TARGETS simtlab_shared EXPORT simtlab LIBRARY DESTINATION lib COMPONENT library NAMELINK_COMPONENT library)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/simtlab DESTINATION include COMPONENT library)
  install(EXPORT simtlab NAMESPACE simtlab:: FILE simtlabTargets.cmake DESTINATION lib/cmake/simtlab COMPONENT library)
  set(SIMTLAB_INCLUDE_DIR include)
  set(SIMTLAB_EXECUTABLE ${CMAKE_INSTALL_BINDIR}/simtlab)
  set(SIMTLAB_DATA share/simtlab/data)
  configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/simtlabConfig.cmake.in ${CMAKE_BINARY_DIR}/generated/simtlabConfig.cmake
    INSTALL_DESTINATION lib/cmake/simtlab PATH_VARS SIMTLAB_INCLUDE_DIR SIMTLAB_EXECUTABLE SIMTLAB_DATA)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/simtlabConfigVersion.cmake VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/generated/simtlabConfig.cmake ${CMAKE_BINARY_DIR}/generated/simtlabConfigVersion.cmake
          DESTINATION lib/cmake/simtlab COMPONENT library)
endif()
