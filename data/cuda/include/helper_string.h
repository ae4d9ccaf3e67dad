// Stand-in for the samples' helper: options of the form --name or --name=value.
#pragma once

#include <stdlib.h>
#include <string.h>

inline const char* simtlab_option(int argc, const char** argv, const char* name) {
  const size_t length = strlen(name);
  for (int i = 1; i < argc; ++i) {
    const char* a = argv[i];
    while (*a == '-') ++a;
    if (a != argv[i] && strncmp(a, name, length) == 0 && (a[length] == '\0' || a[length] == '='))
      return a[length] == '=' ? a + length + 1 : a + length;
  }
  return 0;
}
inline bool checkCmdLineFlag(int argc, const char** argv, const char* name) { return simtlab_option(argc, argv, name) != 0; }
inline int getCmdLineArgumentInt(int argc, const char** argv, const char* name) {
  const char* v = simtlab_option(argc, argv, name);
  return v ? atoi(v) : 0;
}
inline float getCmdLineArgumentFloat(int argc, const char** argv, const char* name) {
  const char* v = simtlab_option(argc, argv, name);
  return v ? (float)atof(v) : 0.0f;
}
inline bool getCmdLineArgumentString(int argc, const char** argv, const char* name, char** value) {
  const char* v = simtlab_option(argc, argv, name);
  *value = v ? const_cast<char*>(v) : 0;
  return v != 0;
}
