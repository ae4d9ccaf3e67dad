target_compile_definitions(simtlab_api PRIVATE SIMTLAB_VERSION="${PROJECT_VERSION}")

# libsimtlab.so: the public interface and what it needs, and nothing else of ours is visible: not even simtlab::Error or fmt's templates, so that a
# program may hold other versions of them. Before 1.0 a minor version may change the interface, so it is part of the name that programs ask for.
if(NOT SIMTLAB_SANITIZE)
  set(simtlab_abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set(simtlab_map ${CMAKE_BINARY_DIR}/generated/simtlab.map)
  configure_file(${CMAKE_SOURCE_DIR}/src/api/simtlab.map.in ${simtlab_map} @ONLY)
  add_library(simtlab_shared SHARED $<TARGET_OBJECTS:simtlab_api>)
  set_target_properties(simtlab_shared PROPERTIES OUTPUT_NAME simtlab EXPORT_NAME simtlab VERSION ${PROJECT_VERSION} SOVERSION ${simtlab_abi}
                        LINK_DEPENDS ${simtlab_map})
  target_link_libraries(simtlab_shared PRIVATE simtlab_api)
  target_link_options(simtlab_shared PRIVATE -Wl,--version-script=${simtlab_map} -Wl,-z,defs -Wl,--gc-sections)
  target_include_directories(simtlab_shared INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(simtlab_shared INTERFACE cxx_std_17)
  add_dependencies(simtlab_programs simtlab_shared)
endif()
