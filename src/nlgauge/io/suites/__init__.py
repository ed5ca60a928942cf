"""Read and write suites of pairs."""
