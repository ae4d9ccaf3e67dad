#include <mma.h>
int main() {}
