"""English grammar: phrases, clauses, questions, and what depends on a word in them."""
