"""Files as bytes, lines and cells. Output files are written completely or not at all."""
