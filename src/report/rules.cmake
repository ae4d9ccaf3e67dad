# The pages of deviations and the tables of docs/guide/migration.md are compiled in, so that `simtlab explain` knows them on a machine
# without the documentation.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
file(GLOB simtlab_glossary_pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/reference/deviations/*.md)
list(SORT simtlab_glossary_pages)
list(APPEND simtlab_glossary_pages ${CMAKE_SOURCE_DIR}/docs/guide/migration.md)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/generated/glossary_pages.cpp
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/src/report/glossary.py ${CMAKE_BINARY_DIR}/generated/glossary_pages.cpp
          ${simtlab_glossary_pages}
  DEPENDS ${simtlab_glossary_pages} ${CMAKE_SOURCE_DIR}/src/report/glossary.py
  COMMENT "Compiling in deviations and names of other tools" VERBATIM)
target_sources(simtlab_report PRIVATE ${CMAKE_BINARY_DIR}/generated/glossary_pages.cpp)
find_package(SQLite3 REQUIRED)
target_link_libraries(simtlab_report PRIVATE SQLite::SQLite3)

# The HTML report carries its charts' library: Debian's libjs-vega, whose packages are files of their own.
find_path(SIMTLAB_VEGA vega-view.min.js PATHS /usr/share/javascript/vega)
if(NOT SIMTLAB_VEGA)
  message(FATAL_ERROR "vega-view.min.js not found: install the Debian package libjs-vega (./dev build does), or set SIMTLAB_VEGA to its folder")
endif()
set(simtlab_page ${CMAKE_SOURCE_DIR}/src/report/html)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/generated/html_assets.cpp
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/src/report/embed.py ${CMAKE_BINARY_DIR}/generated/html_assets.cpp ${SIMTLAB_VEGA}
          page_style=${simtlab_page}/page.css modules_script=${simtlab_page}/modules.js charts_script=${simtlab_page}/charts.js page_script=${simtlab_page}/page.js
  DEPENDS ${CMAKE_SOURCE_DIR}/src/report/embed.py ${simtlab_page}/page.css ${simtlab_page}/modules.js ${simtlab_page}/charts.js ${simtlab_page}/page.js
          ${SIMTLAB_VEGA}/vega-view.min.js
  COMMENT "Compiling in the HTML report" VERBATIM)
target_sources(simtlab_report PRIVATE ${CMAKE_BINARY_DIR}/generated/html_assets.cpp)
