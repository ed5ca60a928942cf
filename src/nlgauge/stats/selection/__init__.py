"""How good a metric's choice among systems is."""
