"""Models that fill gaps in a text."""
