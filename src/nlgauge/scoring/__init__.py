"""Scoring: many metrics over many texts, with what guards them, compares systems and runs in parts."""
