"""Metrics learnt from scores: of errors made by synthesis, or of people."""
