"""Whether one system is better than another."""
