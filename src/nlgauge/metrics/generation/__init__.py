"""Metrics that ask a model how likely a text is."""
