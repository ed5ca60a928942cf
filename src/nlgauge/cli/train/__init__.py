"""`nlgauge train`: one module per kind of training, and what they share."""
