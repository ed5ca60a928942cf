"""Marked texts, in lines and as a page."""
