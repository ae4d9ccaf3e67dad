// __managed__ variables.
__managed__ int x = 3;
int main() {}
