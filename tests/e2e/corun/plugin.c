/* A library that launches: linked to libcudart.so.12, opened by others. With -DPYTHON an extension module, ways.go(COUNT). */
#ifdef PYTHON
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#endif
#include <stddef.h>

typedef struct { unsigned x, y, z; } dim3;
int cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, void*);
int cudaGetLastError(void);
int cudaDeviceSynchronize(void);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);

static char stub[16];

/* As code of nvcc does: when the library is loaded. */
__attribute__((constructor)) static void registered(void) { __cudaRegisterFunction(0, stub, 0, "plugin_kernel", 0, 0, 0, 0, 0, 0); }

/* How many launches went wrong, by their codes or by the last error. */
int go(int count) {
  dim3 one = {1, 1, 1};
  int bad = 0;
  for (int i = 0; i < count; ++i) bad += cudaLaunchKernel(stub, one, one, 0, 0, 0) != 0 || cudaGetLastError() != 0;
  return bad + (cudaDeviceSynchronize() != 0);
}

#ifdef PYTHON
static PyObject* py_go(PyObject* self, PyObject* arguments) {
  int count = 0;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "i", &count)) return 0;
  return PyLong_FromLong(go(count));
}
static PyMethodDef methods[] = {{"go", py_go, METH_VARARGS, ""}, {0, 0, 0, 0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "ways", 0, -1, methods, 0, 0, 0, 0};
PyMODINIT_FUNC PyInit_ways(void) { return PyModule_Create(&module); }
#endif
