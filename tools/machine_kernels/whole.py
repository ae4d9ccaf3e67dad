def compare(options, ptxas, architecture, level, folder): return []
