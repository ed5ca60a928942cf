"""How each kind of result is shown: a module per kind, with its tables and a page."""
