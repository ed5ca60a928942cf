"""Perturbations of form: order, spelling, short forms, stop words, sentences, agreement."""
