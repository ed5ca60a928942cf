"""Where the errors of a text are, and how bad they are."""
