#include <cuda/atomic>
int main() {}
