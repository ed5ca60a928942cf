"""Which metric for these texts? Evidence on the user's own texts, and a rule that can be read."""
