"""Perturbations that exchange, add or drop single words."""
