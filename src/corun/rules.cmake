# The database of profiles. As needed: the library that gates programs uses the scheduler and should not bring SQLite into them.
find_package(SQLite3 REQUIRED)
target_link_libraries(simtlab_corun PRIVATE -Wl,--push-state,--as-needed SQLite::SQLite3 -Wl,--pop-state)
