"""Training: pairs in, weights out."""
