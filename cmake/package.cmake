# `cpack --config build/release/CPackConfig.cmake` makes two Debian packages: simtlab (tool, library, Python module), and simtlab-loops, which alone needs LLVM.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME simtlab)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The simtlab maintainers <maintainers@users.noreply.a-seed-25818da7.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "GPU performance laboratory: kernels on simulated GPUs")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL tool)
if(TARGET simtlab_shared)
  list(APPEND CPACK_COMPONENTS_ALL library)
endif()
if(TARGET simtlab_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
if(TARGET simtlab-loops)
  list(APPEND CPACK_COMPONENTS_ALL loops)
endif()
set(CPACK_COMPONENT_TOOL_GROUP simtlab)
set(CPACK_COMPONENT_LIBRARY_GROUP simtlab)
set(CPACK_COMPONENT_PYTHON_GROUP simtlab)
set(CPACK_COMPONENT_LOOPS_GROUP loops)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)   # the Python module needs libsimtlab.so of the same package
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_SIMTLAB_PACKAGE_NAME simtlab)
set(CPACK_DEBIAN_SIMTLAB_DESCRIPTION
"Runs CUDA programs, OpenCL programs and PTX kernels on simulated GPUs, cycle by
cycle or by analytical models, with exchangeable main memories, cache studies,
microbenchmarks and co-run policies, and says why a kernel takes as long as it
does. Needs no GPU and no CUDA toolkit. With C++ library and Python module.")
set(CPACK_DEBIAN_SIMTLAB_PACKAGE_RECOMMENDS "clang-19, g++, libclc-19, ocl-icd-libopencl1, python3 (>= ${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR})")
set(CPACK_DEBIAN_SIMTLAB_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/cmake/debian/prerm)
set(CPACK_DEBIAN_SIMTLAB_PACKAGE_SUGGESTS "python3-pandas, simtlab-loops")

set(CPACK_DEBIAN_LOOPS_PACKAGE_NAME simtlab-loops)
set(CPACK_DEBIAN_LOOPS_DESCRIPTION
"What simtlab predict program.c needs to analyse the loops of a C program: a
package of its own because it needs LLVM's library.")
set(CPACK_DEBIAN_LOOPS_PACKAGE_DEPENDS "simtlab (= ${PROJECT_VERSION}), clang-19")
include(CPack)
