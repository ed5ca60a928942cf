"""Metrics that are trained on scores: those of synthesised errors, or those that people gave."""
