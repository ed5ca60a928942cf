"""Perturbations of questions."""
