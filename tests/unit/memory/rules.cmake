# The cache policy of the guide: what simtlab is built with may be any, so its test calls it by itself.
target_sources(test_memory PRIVATE ${CMAKE_SOURCE_DIR}/examples/extend/memory/policies/replace_lip.cpp)
