# HTTP by libevent: small, without TLS, which nothing on 127.0.0.1 needs.
pkg_check_modules(LIBEVENT REQUIRED IMPORTED_TARGET libevent_core libevent_extra)
target_link_libraries(simtlab_report_viewer PRIVATE PkgConfig::LIBEVENT)
