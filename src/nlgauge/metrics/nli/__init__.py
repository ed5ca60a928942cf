"""Metrics from natural language inference."""
