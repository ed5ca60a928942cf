"""What people's ratings say: whether raters agree, which systems stand far off, and which items to rate next."""
