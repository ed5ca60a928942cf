"""Which system is better: tests of systems, tables of differences, and what a difference means to people."""
