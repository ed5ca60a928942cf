"""Logs of other tools: what models answered, with the scores that a tool gave."""
