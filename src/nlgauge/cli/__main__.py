"""`python -m nlgauge.cli`."""

from nlgauge.cli.start import run

run()
