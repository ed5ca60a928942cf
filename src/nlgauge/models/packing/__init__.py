"""The forward pass over packed tokens: texts lie end to end, on CPUs and on GPUs."""
