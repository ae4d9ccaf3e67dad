/* A shared library that is something else. */
int something_else(void);
int something_else(void) { return 1; }
