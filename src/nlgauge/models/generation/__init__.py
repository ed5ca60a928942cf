"""Models that write text, asked how likely a text is."""
