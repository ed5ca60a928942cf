"""Results as tables, a module per kind of result; `table` writes them."""
