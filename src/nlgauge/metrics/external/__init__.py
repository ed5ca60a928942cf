"""Metrics that a program of somebody else computes."""
