"""A metric, a perturbation and a format that nlgauge finds by entry points."""
