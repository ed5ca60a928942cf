"""Whole items, and what a sample says of its texts."""

import pytest

from nlgauge.choosing.sample import sampled
from nlgauge.core.segment import Dataset, Segment


def data(n_items, systems=("a", "b"), text="x {}"):
    return Dataset(
        tuple(Segment(f"{s}{i}", text.format(i), ("y",), None, s, str(i)) for i in range(n_items) for s in systems)
    )


def test_items_are_taken_whole():
    found = sampled(data(200), limit=100)
    assert len(found.segments) == 100
    assert found.n_items == 200
    by_item = [s.item for s in found.segments]
    assert all(by_item.count(item) == 2 for item in by_item)
    assert found.notes == ("100 of 400 outputs are looked at: those of 50 of 200 items",)


def test_a_small_set_is_taken_as_it_is_and_the_seed_decides_otherwise():
    assert sampled(data(10)).dataset == data(10)
    one, other = (sampled(data(200), 60, seed).dataset for seed in (0, 1))
    assert one != other
    assert one == sampled(data(200), 60, 0).dataset


def test_of_many_systems_eight_are_compared():
    found = sampled(data(10, [f"s{i}" for i in range(20)]))
    assert len(found.dataset.systems) == 8
    assert found.notes[0] == "8 of 20 systems are looked at, those with most outputs"


def test_where_some_outputs_are_rated_these_are_looked_at():
    rated = [Segment(s.id, s.hypothesis, human={"x": 1} if s.system == "a" else {}) for s in data(5)]
    found = sampled(Dataset(tuple(rated)), criterion="x")
    assert [s.id for s in found.segments] == [f"a{i}" for i in range(5)]
    assert len(found.whole) == 10


def test_of_long_texts_fewer_are_looked_at():
    assert sampled(data(300), 200).part == 1
    long = sampled(data(300, text="word " * 119 + "{}"), 200)  # 120 words and a reference of one
    assert long.part == pytest.approx(60 / 121)
    assert len(long.segments) == 98  # 200 * 60 / 121, in whole items of two
    assert sampled(data(300, text="word " * 1500), 200).part == 0.25
    # a run ends: of texts of 5,000 words, or with such sources, 450 words for each usual text are read
    assert sampled(data(300, text="word " * 5000), 200).part == pytest.approx(450 / 5001)
    articles = [Segment(s.id, s.hypothesis, s.references, "word " * 4499, s.system, s.item) for s in data(300)]
    assert sampled(Dataset(tuple(articles)), 200).part == pytest.approx(450 / 4502)


def test_copies_and_blanks_are_no_outputs():
    assert sampled(data(3)).has_outputs
    copies = sampled(data(3, text="y"))
    assert copies.are_copies
    assert not copies.has_outputs
    assert not sampled(data(3, text=" ")).has_outputs
