"""Names of people, places and organisations."""
