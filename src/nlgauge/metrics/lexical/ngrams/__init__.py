"""Metrics over word n-grams and aligned words."""
