"""One bar per metric: what its parts show moves it, and it ends where it should."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from nlgauge.runtime.progress import Bar, bars
from nlgauge.runtime.runtime import Runtime


class Shown:
    """Progress that remembers its bars."""

    def __init__(self):
        self.bars = []

    @contextmanager
    def __call__(self, total, label):
        moves = []
        self.bars.append((label, total, moves))
        yield moves.append


def test_a_bar_for_each_name_over_all_segments():
    shown = Shown()
    with bars({"chrf": "chrf", "": "bleu"}, 8, Runtime(progress=shown)) as open_bars:
        open_bars[""].done(3)
    assert shown.bars == [("chrf", 8, []), ("bleu", 8, [3])]


def test_nothing_is_shown_where_nobody_looks():
    runtime = Runtime()
    with bars({"chrf": "chrf"}, 8, runtime) as open_bars, open_bars["chrf"].part(runtime, 8) as watched:
        assert watched is runtime


@pytest.mark.parametrize(
    ("stages", "shown"),
    [
        ([(10, [5, 5])], [3, 3]),  # 10 texts are 6 segments
        ([(10, [5])], [3, 3]),  # the rest when the part is done
        ([(4, [4]), (4, [4])], [6]),  # a second bar does not go past the end
        ([(0, [])], [6]),
        ([], [6]),
    ],
)
def test_what_a_part_shows_moves_the_bar_by_its_share(stages, shown):
    moves = []
    runtime = Runtime()
    with Bar(moves.append).part(runtime, 6) as watched:
        for total, counts in stages:
            with watched.progress(total, "texts") as advance:
                for count in counts:
                    advance(count)
    assert moves == shown


def test_terms_of_a_sum_share_the_bar():
    moves = []
    with (
        Bar(moves.append).part(Runtime(), 6, stages=2) as watched,
        watched.progress(3, "one") as one,
        watched.progress(3, "other") as other,
    ):
        one(3)
        other(1)
    assert moves == [3, 1, 2]  # half, a sixth, and what is left


def test_a_part_shares_models_and_settings_with_the_whole():
    runtime = Runtime(device="cpu", dtype="float64", seed=4)
    runtime.once("model", lambda: "loaded")
    with Bar(lambda count: None).part(runtime, 1) as watched:
        assert watched.once("model", lambda: "loaded again") == "loaded"
        assert (watched.device, watched.dtype, watched.seed, watched.cache) == ("cpu", "float64", 4, None)


def test_an_error_leaves_the_bar_where_it_is():
    moves = []
    with pytest.raises(ValueError, match="stop"), Bar(moves.append).part(Runtime(), 6):
        raise ValueError("stop")
    assert moves == []
