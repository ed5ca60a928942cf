"""`python -m nlgauge.cli`."""

from nlgauge.cli.main import run

run()
