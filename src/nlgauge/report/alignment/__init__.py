"""How an alignment is shown: a picture, a page, and lines for a terminal."""
