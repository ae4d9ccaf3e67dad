target_compile_definitions(simtlab_api PRIVATE SIMTLAB_VERSION="${PROJECT_VERSION}")
