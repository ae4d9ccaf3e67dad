# The same trace of events in all hosts, the daemon among them.
target_link_libraries(test_corun_cycle PRIVATE simtlab_corun_live)
