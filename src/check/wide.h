// For functions that are compiled for the host's widest vectors, too. (The choice between the copies is made
// before a sanitizer has begun.)
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define SIMTLAB_WIDE [[gnu::target_clones("arch=x86-64-v4", "avx2", "default")]]
#else
#define SIMTLAB_WIDE
#endif
