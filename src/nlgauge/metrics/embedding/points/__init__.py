"""Texts as weighted points: what metrics over token vectors share."""
