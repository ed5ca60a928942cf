"""As a test: `VERSION=old pytest --nlgauge-update` keeps a baseline, and `VERSION=hasty pytest` judges a change."""

import os

from outputs import rows

REPORTS = list(rows(os.environ.get("VERSION", "old"), int(os.environ.get("ITEMS", "240"))))


def test_reports_are_no_worse(nlgauge):
    """A change may cost a point of chrF on the mean."""
    run = nlgauge.run(
        [row["hyp"] for row in REPORTS],
        refs=[row["refs"] for row in REPORTS],
        ids=[row["seg"] for row in REPORTS],
    )
    assert run.no_worse_than("reports", metrics=["chrf"], allow=1)
