"""How far a correlation may be from the truth."""
