"""Development sets: the mean over a segment's references, groups apart, and a share held back without leaks."""

import numpy as np
import pytest

pytest.importorskip("torch")

from nlgauge.core.errors import InputError
from nlgauge.training.dev import Dev, held_out
from nlgauge.training.examples import Example


def example(score, owner, ref="r"):
    return Example({"hyp": f"h{owner}", "ref": ref}, score, owner)


def test_a_segment_counts_once_with_the_mean_of_its_references():
    dev = Dev("d", [example(1.0, 0), example(1.0, 0), example(2.0, 1), example(3.0, 2)])
    owners = np.array([0, 0, 1, 2])
    # means 2, 3, 1 against 1, 2, 3: one pair of three agrees, (1 - 2) / 3
    assert dev.measure(np.array([1.0, 3.0, 3.0, 1.0]), owners) == pytest.approx(-1 / 3)


def test_agreement_is_the_mean_of_the_groups_that_tell():
    examples = [example(1.0, 0), example(2.0, 1), example(1.0, 2), example(2.0, 3), example(5.0, 4)]
    dev = Dev("d", examples, "pearson", lambda owner: owner // 2)
    # the first group agrees, the second does not, the third holds one segment and says nothing
    assert dev.measure(np.array([1.0, 2.0, 2.0, 1.0, 0.0]), np.arange(5)) == pytest.approx(0.0)
    assert dev.measure(np.array([1.0, 2.0, 1.0, 3.0, 0.0]), np.arange(5)) == pytest.approx(1.0)
    assert np.isnan(Dev("d", examples, "pearson", lambda owner: owner).measure(np.arange(5.0), np.arange(5)))


def test_a_set_of_one_score_is_refused():
    with pytest.raises(
        InputError,
        match=r"d: a development set of 2 examples of one score .*--held-out 0 \(in Python held_out=0\) keeps",
    ):
        Dev("d", [example(1.0, 0), example(1.0, 1)])


def test_no_reference_stands_on_both_sides():
    examples = [example(-float(i % 4), i, f"r{i // 4}") for i in range(80)]
    learnt, dev = held_out(examples, 0.1, 0)
    assert len(dev.examples) == 8  # two of twenty references
    assert not {e.texts["ref"] for e in learnt} & {e.texts["ref"] for e in dev.examples}
    assert sorted(e.owner for e in [*learnt, *dev.examples]) == list(range(80))
    assert held_out(examples, 0.1, 0)[0] == learnt
    assert held_out(examples, 0.1, 1)[0] != learnt
    assert len(held_out(examples, 0.001, 0)[1].examples) == 4  # never less than one reference


def test_one_reference_alone_cannot_be_held_back():
    with pytest.raises(InputError, match="give --dev, or --held-out 0"):
        held_out([example(0.0, 0), example(1.0, 1)], 0.1, 0)


@pytest.mark.parametrize("stat", ["soft_pairwise_accuracy", "pairwise_accuracy", "rr_kendall"])
def test_statistics_of_systems_or_preferences_choose_no_weights(stat):
    with pytest.raises(InputError, match=f"{stat} is no agreement of segments"):
        Dev("d", [example(0.0, 0), example(1.0, 1)], stat)
    with pytest.raises(InputError, match="did you mean 'kendall_b'"):
        Dev("d", [example(0.0, 0), example(1.0, 1)], "kendal_b")


def test_pairs_are_those_of_one_source_and_of_a_threshold():
    # sources 0 1, 2 3: the first pair is ordered as rated, the second is not, and no other two are compared
    examples = [example(0.0, 0), example(-5.0, 1), example(-1.0, 2), example(-2.0, 3)]
    scores, owners = np.array([4.0, 3.0, 1.0, 2.0]), np.arange(4)

    def measured(threshold):
        return Dev("d", examples, "wmt_kendall_like", items=lambda owner: owner // 2, threshold=threshold).measure(
            scores, owners
        )

    assert measured(0.0) == 0.0
    assert measured(3.0) == 1.0
    with pytest.raises(InputError, match=r"no two outputs for one input are rated 25 apart.*--threshold"):
        measured(None)
    with pytest.raises(InputError, match=r"rated differently.*give several rated outputs for an input"):
        Dev("d", examples, "wmt_kendall_like", items=lambda owner: owner, threshold=0.0)
    with pytest.raises(InputError, match="does not say which"):
        Dev("d", examples, "wmt_kendall_like", threshold=0.0)
    with pytest.raises(InputError, match="kendall_b has no threshold"):
        Dev("d", examples, threshold=0.0)


def test_of_hypotheses_alone_equal_ones_stay_together():
    # as for a sentinel of the hypothesis, which has no reference to tell examples apart by
    examples = [Example({"hyp": f"h{i // 2}"}, float(i), i) for i in range(20)]
    learnt, dev = held_out(examples, 0.2, 0)
    assert len(dev.examples) == 4
    assert not {e.texts["hyp"] for e in learnt} & {e.texts["hyp"] for e in dev.examples}
    with pytest.raises(InputError, match="the examples have one hypothesis"):
        held_out(examples[:2], 0.2, 0)


def test_what_chooses_beside_the_examples_is_told():
    examples = [example(0.0, 0), example(-5.0, 1), example(-1.0, 2), example(-2.0, 3)]
    assert Dev("d", examples).chooses_by == ()

    def chosen(threshold=0.0, groups=lambda owner: "de-en", items=lambda owner: owner // 2):
        return Dev("d", examples, "wmt_kendall_like", groups, items, threshold).chooses_by

    others = [chosen(3.0), chosen(groups=lambda owner: str(owner // 2)), chosen(items=lambda owner: 0)]
    assert len({chosen(), *others}) == 4
    assert Dev("d", examples, groups=lambda owner: owner // 2).chooses_by
