"""Whether people agree with each other, and which systems stand far from the rest."""
