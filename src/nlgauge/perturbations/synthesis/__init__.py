"""Stratified error synthesis (SEScore): several errors in one text, each with its severity."""
