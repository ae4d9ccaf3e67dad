#include <cuda/std/complex>
int main() {}
