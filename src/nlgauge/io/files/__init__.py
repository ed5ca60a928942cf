"""Files as bytes, lines and cells, whole or not at all."""
