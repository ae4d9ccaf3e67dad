target_compile_definitions(simtlab_gpu PRIVATE SIMTLAB_VERSION="${PROJECT_VERSION}")
