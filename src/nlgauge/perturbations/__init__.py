"""Edits that make a text worse, or leave it as good: one class a template, offsets of the text as the only currency."""
