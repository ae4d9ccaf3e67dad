# The part with LLVM 19 is a library that is loaded when it is asked for: programs start without it. LLVM's static parts are in it,
# so that it runs on machines without LLVM. Left out where LLVM's headers are missing; kernels are then assembled as they stand, and say so.
find_package(LLVM CONFIG QUIET PATHS /usr/lib/llvm-19/lib/cmake/llvm NO_DEFAULT_PATH)
if(SIMTLAB_SANITIZE)
  # Sanitizers watch containers that LLVM's libraries, built without them, change.
elseif(LLVM_FOUND AND LLVM_VERSION_MAJOR EQUAL 19)
  file(GLOB optimiser_llvm_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/optimiser/llvm/*.cpp)
  add_library(optimiser_library SHARED ${optimiser_llvm_sources})
  set_target_properties(optimiser_library PROPERTIES OUTPUT_NAME simtlab_optimiser)
  target_include_directories(optimiser_library SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(optimiser_library PRIVATE ${LLVM_DEFINITIONS})
  llvm_map_components_to_libnames(optimiser_llvm_libraries passes)
  target_link_libraries(optimiser_library PRIVATE simtlab_flags simtlab_ptx ${optimiser_llvm_libraries})
  target_link_options(optimiser_library PRIVATE LINKER:--exclude-libs,ALL LINKER:--gc-sections LINKER:--as-needed)
  target_compile_options(optimiser_library PRIVATE -fno-rtti)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False alarm of g++ 12: LLVM's users have an operator new of their own.
    target_compile_options(optimiser_library PRIVATE -Wno-mismatched-new-delete)
  endif()
  add_dependencies(simtlab_programs optimiser_library)
else()
  message(STATUS "LLVM 19 not found: PTX is not optimised (Debian: llvm-19-dev)")
endif()
