"""Audits: what a metric cannot see, found by pairs of texts whose order is known."""
