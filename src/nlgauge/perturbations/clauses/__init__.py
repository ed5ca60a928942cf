"""Perturbations of phrases and clauses: they are negated, dropped, repeated, or brought in from elsewhere."""
