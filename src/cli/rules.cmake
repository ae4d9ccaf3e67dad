target_compile_definitions(simtlab_cli PRIVATE SIMTLAB_VERSION="${PROJECT_VERSION}")
