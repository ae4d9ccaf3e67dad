target_compile_definitions(simtlab_hosts PRIVATE SIMTLAB_VERSION="${PROJECT_VERSION}")
