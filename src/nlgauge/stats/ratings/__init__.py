"""Human ratings: whether raters agree, which systems stand far off, and which items to rate next."""
