target_compile_definitions(simtlab_studies_common PRIVATE SIMTLAB_VERSION="${PROJECT_VERSION}")
