from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.metrics.comparing.grid import aligned, by_system


def places(found):
    return {name: where.tolist() for name, where in found.items()}


def test_places_of_each_system_in_order_of_first_appearance():
    assert places(by_system("abcd", ["B", None, "B", "A"])) == {"B": [0, 2], None: [1], "A": [3]}
    assert list(by_system("abcd", ["B", None, "B", "A"])) == ["B", None, "A"]
    assert by_system("", []) == {}


def test_systems_are_laid_beside_the_baselines_items():
    #          B answers 2 then 1, A answers 1 then 2: A's order counts
    found = aligned("wxyz", ["B", "B", "A", "A"], ["2", "1", "1", "2"], "A")
    assert places(found) == {"A": [2, 3], "B": [1, 0]}
    assert list(found) == ["A", "B"]


@given(st.integers(2, 4), st.integers(1, 5), st.randoms(use_true_random=False))
def test_column_by_column_all_answer_one_item(n_systems, n_items, random):
    cells = [(f"sys{s}", f"item{i}") for s in range(n_systems) for i in range(n_items)]
    random.shuffle(cells)
    systems, items = zip(*cells, strict=True)
    found = aligned([f"id{k}" for k in range(len(cells))], systems, items, "sys1")
    assert next(iter(found)) == "sys1"
    assert sorted(k for where in found.values() for k in where.tolist()) == list(range(len(cells)))
    for name, where in found.items():
        assert [systems[k] for k in where] == [name] * n_items
        assert [items[k] for k in where] == [items[k] for k in found["sys1"]]


@pytest.mark.parametrize(
    ("systems", "items", "baseline", "message"),
    [
        (["A", None], ["1", "1"], "A", r"^segment 'y' names no system; systems are compared item by item"),
        (["A", "B"], ["1", None], "A", r"^segment 'y' names no item; systems are compared item by item"),
        (
            ["A", "A", "B"],
            ["1", "1", "1"],
            "A",
            r"^system 'A' has item '1' twice \(segments 'x' and 'y'\), expected once; are several groups",
        ),
        (["A", "B"], ["1", "1"], "a", r"^baseline 'a' is not among the systems; did you mean 'A'\?$"),
        ([], [], "A", r"^no systems: there are no segments; a comparison needs at least two systems with texts$"),
        (["A", "A"], ["1", "2"], "A", r"^'A' is the only system; a comparison needs at least two$"),
        (
            ["A", "A", "A", "B"],
            ["1", "2", "3", "1"],
            "A",
            r"^system 'B' lacks item '2' and 1 more, which 'A' has; compare systems on the same",
        ),
        (
            ["A", "B", "B"],
            ["1", "1", "2"],
            "A",
            r"^system 'A' lacks item '2', which 'B' has; compare systems on the same items \(",
        ),
        (["A", "B"], ["1"], "A", r"^2 segments but 1 items; give one item per segment$"),
    ],
)
def test_what_makes_no_grid_is_refused_by_name(systems, items, baseline, message):
    with pytest.raises(InputError, match=message):
        aligned("xyzw"[: len(systems)], systems, items, baseline)


def test_as_many_systems_as_segments():
    with pytest.raises(InputError, match=r"^3 segments but 2 systems; give one system per segment$"):
        by_system("abc", ["A", "B"])
