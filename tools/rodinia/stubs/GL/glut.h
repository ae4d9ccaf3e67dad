/* hybridsort includes the OpenGL headers and uses nothing of them: this empty header stands in for the
 * package. */
