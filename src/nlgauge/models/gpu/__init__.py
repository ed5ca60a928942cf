"""The forward pass as GPUs like it: few kernels, each over many texts."""
