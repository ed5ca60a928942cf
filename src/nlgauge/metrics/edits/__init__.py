"""Metrics that count edits: what would have to be changed to make the reference of the hypothesis."""
