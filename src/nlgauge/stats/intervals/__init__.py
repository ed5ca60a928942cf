"""How far a correlation may be from its true value."""
