# The part that uses LLVM 19 is an executable of its own beside simtlab: the core runs on machines without LLVM. Left out where LLVM's
# headers are missing; `simtlab predict program.c` then says what to install.
find_package(LLVM CONFIG QUIET PATHS /usr/lib/llvm-19/lib/cmake/llvm NO_DEFAULT_PATH)
if(SIMTLAB_SANITIZE)
  # Sanitizers watch containers that LLVM's library, built without them, changes.
elseif(LLVM_FOUND AND LLVM_VERSION_MAJOR EQUAL 19)
  file(GLOB loops_llvm_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/models/loops/llvm/*.cpp)
  add_executable(simtlab-loops ${loops_llvm_sources})
  target_include_directories(simtlab-loops SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(simtlab-loops PRIVATE ${LLVM_DEFINITIONS})
  target_link_libraries(simtlab-loops PRIVATE simtlab_flags LLVM nlohmann_json::nlohmann_json)
  simtlab_compile_together(simtlab-loops 16)
  target_link_directories(simtlab-loops PRIVATE ${LLVM_LIBRARY_DIRS})
  # LLVM is built without run-time type information; it runs once a command and is not worth optimising.
  target_compile_options(simtlab-loops PRIVATE -fno-rtti ${simtlab_quick_options})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False alarm of g++ 12: LLVM's users have an operator new of their own.
    target_compile_options(simtlab-loops PRIVATE -Wno-mismatched-new-delete)
  endif()
  add_dependencies(simtlab_programs simtlab-loops)
else()
  message(STATUS "LLVM 19 not found: sequential C programs are left out (Debian: llvm-19-dev)")
endif()
