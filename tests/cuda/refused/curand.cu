#include <curand_kernel.h>
int main() {}
