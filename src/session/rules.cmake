target_compile_definitions(simtlab_session PRIVATE SIMTLAB_VERSION="${PROJECT_VERSION}")
