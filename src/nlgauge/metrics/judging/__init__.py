"""Language models as judges, behind an endpoint of the user's."""
