"""`python -m nlgauge`."""

from nlgauge.cli.start import run

run()
