#include <cuda/barrier>
int main() {}
