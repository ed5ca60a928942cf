"""Devices, batches, caches and progress: what a run needs besides its metrics."""
