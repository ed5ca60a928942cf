"""Numbers in English text: found, understood, changed, spelled out."""
