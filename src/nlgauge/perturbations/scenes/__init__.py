"""Perturbations of captions and dialogue."""
