"""Whether one system is better than another, and what a choice among systems is worth."""
