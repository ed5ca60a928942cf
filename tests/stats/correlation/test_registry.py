from importlib import metadata

import numpy as np
import pytest

from nlgauge.core.errors import SpecError
from nlgauge.stats.correlation.correlate import correlation
from nlgauge.stats.correlation.registry import STATISTICS, names, statistic


def test_every_statistic_has_a_summary_and_runs_on_plain_vectors():
    for name, entry in STATISTICS.items():
        assert entry.summary
        x, z = np.array([[0.1, 0.9], [0.3, 0.2]]), np.array([[0.0, 1], [1, 0]])
        assert correlation(name, x, z).stat == name
    assert names()[: len(STATISTICS)] == list(STATISTICS)


def test_third_parties_add_statistics_by_entry_point(monkeypatch):
    class Point:
        name = "share_above"

        def load(self):
            def share_above(x, z):
                """How often a score exceeds its judgement."""
                return (x > z).mean(axis=-1)

            return share_above

    monkeypatch.setattr(metadata, "entry_points", lambda group: [Point()] if group == "nlgauge.statistics" else [])
    assert "share_above" in names()
    assert statistic("share_above").summary == "How often a score exceeds its judgement."
    assert correlation("share_above", [[1, 5], [3, 0]], [[0, 1], [2, 3]]).value == 0.75


def test_a_broken_statistic_of_a_third_party_is_one_line(monkeypatch):
    class Point:
        name = "broken"

        def load(self):
            raise ImportError("no module of that name")

    monkeypatch.setattr(metadata, "entry_points", lambda group: [Point()] if group == "nlgauge.statistics" else [])
    with pytest.raises(
        SpecError, match=r"^statistic 'broken' of an installed package cannot be loaded \(ImportError: no"
    ):
        statistic("broken")
