"""What metrics cost, and how long a choice will take."""

from tests.choosing.made import Fixed, data

import nlgauge as ng
from nlgauge.choosing.candidates import tried
from nlgauge.choosing.costs import cost_of
from nlgauge.choosing.expected import expected_seconds
from nlgauge.core.segment import Segment
from nlgauge.runtime.runtime import Runtime


def test_a_cost_is_measured():
    cost = cost_of(ng.metric("chrf"), data(6).segments, Runtime())
    assert 0 < cost.seconds < 60
    assert cost.megabytes >= 0


def test_every_metric_that_can_score_has_an_expected_time():
    found = expected_seconds(data(4), ["chrf", "bleu", "supert"])
    assert [*found] == ["chrf", "bleu"]
    assert all(seconds > 0 for seconds in found.values())


def test_what_is_tried_fits_the_data():
    english = Segment("1", "It rains in the north and it is cold.", ("It rains.",), "The north of the land has rain.")
    german = Segment(
        "1", "It rains in the north and it is cold.", ("It rains.",), "Im Norden ist es kalt und es regnet."
    )
    assert "faithful" in tried("as", [english])
    assert "faithful" not in tried("as", [german])
    assert "parent" not in tried("d2t", [english])  # no table
    assert tried("mt", [Segment("1", "It rains in the north.")]) == ["gruen"]
    assert isinstance(Fixed(), Fixed)
