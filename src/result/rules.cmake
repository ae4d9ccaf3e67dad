# Columns beside a result are a zip.
pkg_check_modules(MINIZIP REQUIRED minizip)
target_link_libraries(simtlab_result PRIVATE ${MINIZIP_LINK_LIBRARIES})
