// OpenMP's header for the clang passes of a CUDA build with -Xcompiler -fopenmp: clang's own where it is installed,
// else gcc's, whose attribute malloc(free function) clang does not know.
#pragma once
#if !__has_include_next(<omp.h>)
#error "omp.h was not found: install the Debian package g++ (or libomp-19-dev)"
#endif
#ifdef __clang__
#pragma push_macro("__malloc__")
#define __malloc__(...)
#include_next <omp.h>
#pragma pop_macro("__malloc__")
#else
#include_next <omp.h>
#endif
