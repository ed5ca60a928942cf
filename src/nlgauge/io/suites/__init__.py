"""Suites of pairs, read and written."""
