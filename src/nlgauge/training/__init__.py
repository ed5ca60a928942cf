"""What is learnt from data: pairs in, weights out."""
