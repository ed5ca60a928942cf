"""Perturbations of phrases and clauses: denied, dropped, repeated, brought in from elsewhere."""
