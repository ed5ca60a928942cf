"""Errors by their place, in the formats of shared tasks."""
