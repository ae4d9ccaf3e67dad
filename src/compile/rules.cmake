# Decompression for the fat binary reader; the source tree's data as the last place to look for headers.
target_link_libraries(simtlab_compile PRIVATE PkgConfig::ZSTD PkgConfig::LZ4)
target_compile_definitions(simtlab_compile PRIVATE SIMTLAB_SOURCE_DATA="${CMAKE_SOURCE_DIR}/data")

# Device maths library as bitcode. Without clang 19 the first `simtlab build` makes it.
find_program(SIMTLAB_CLANG_CUDA NAMES clang-19 HINTS /usr/lib/llvm-19/bin)
set(devmath_dir ${CMAKE_SOURCE_DIR}/data/cuda/devmath)
if(SIMTLAB_CLANG_CUDA AND EXISTS ${devmath_dir}/devmath.cu)
  file(GLOB devmath_sources CONFIGURE_DEPENDS ${devmath_dir}/*.cu ${devmath_dir}/*.h)
  set(devmath_products)
  # Twice: bitcode without and with -ftz=true carries a module flag that must agree with the program's.
  foreach(variant devmath devmath-ftz)
    set(devmath_bc ${CMAKE_BINARY_DIR}/share/simtlab/cuda/${variant}.bc)
    set(devmath_flags)
    if(variant STREQUAL "devmath-ftz")
      set(devmath_flags -fgpu-flush-denormals-to-zero)
    endif()
    add_custom_command(OUTPUT ${devmath_bc}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/share/simtlab/cuda
      COMMAND ${SIMTLAB_CLANG_CUDA} -x cuda --cuda-path=/nonexistent -nocudainc -nocudalib -Xclang -target-sdk-version=11.8
              --cuda-device-only --cuda-gpu-arch=sm_30 -O2 -ffp-contract=off -w ${devmath_flags} -emit-llvm
              -c ${devmath_dir}/devmath.cu -o ${devmath_bc}
      DEPENDS ${devmath_sources} VERBATIM COMMENT "Device maths library (${variant})")
    list(APPEND devmath_products ${devmath_bc})
  endforeach()
  add_custom_target(simtlab_devmath ALL DEPENDS ${devmath_products})
  add_dependencies(simtlab_programs simtlab_devmath)
elseif(NOT SIMTLAB_CLANG_CUDA)
  message(WARNING "clang-19 not found: simtlab runs PTX and ready programs; compiling CUDA sources needs the package clang-19")
endif()
