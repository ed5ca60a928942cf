"""Metrics that read no reference: what a text says of its source, or of itself."""
