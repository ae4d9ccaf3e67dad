// Stand-in: hybridsort includes this header and uses nothing of it.
