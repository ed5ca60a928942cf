from __future__ import annotations

import json
from math import exp, log, sqrt
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.ngrams.cider import Cider
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

GOLDEN = Path(__file__).parents[3] / "golden" / "cider.json"


def scores(*texts, **options):
    segments = [Segment(str(i), hypothesis, references) for i, (hypothesis, *references) in enumerate(texts)]
    return Cider(**options).score(segments, Runtime())


def test_rare_words_weigh_more():
    # Two items: "a" is in the references of both and weighs 0, the others log(2). Of "b c" against "b d": one of two.
    found = scores(("b c", "a b d"), ("a", "a e"), max_ngram_order=1, sigma=None)
    assert found.values == pytest.approx([10 * log(2) ** 2 / (sqrt(2) * log(2)) ** 2, 0])


def test_lengths_that_differ_cost():
    # "b" against "b b b": the same direction, two words apart
    one, other = (scores(("b", "b b b"), ("c", "c"), max_ngram_order=1, sigma=s, clip=False) for s in (None, 2.0))
    assert one.values[0] == pytest.approx(10)
    assert other.values[0] == pytest.approx(10 * exp(-(2**2) / (2 * 2**2)))


def test_words_count_no_more_often_than_in_the_reference():
    # "b b b" against "b": the cosine is 1, clipped it is 1/3
    assert scores(("b b b", "b"), ("c", "c"), max_ngram_order=1, sigma=None).values[0] == pytest.approx(10 / 3)


def test_several_references_are_averaged_and_orders_are():
    # a copy of two words has words and pairs, but no triples: 2 of 4 orders; against "x y" it has nothing
    assert scores(("b c", "b c", "x y"), ("d", "d")).values[0] == pytest.approx(10 * 2 / 4 / 2)


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden files are not beside the tests")
def test_agrees_with_pycocoevalcap(pairs):
    golden = json.loads(GOLDEN.read_text())
    found = Cider(tokenizer="blanks").score(pairs, Runtime())
    assert found.values == pytest.approx(golden["values"], abs=1e-9)  # the same sums in another order
    assert found.system == pytest.approx(golden["corpus"], abs=1e-9)


def test_a_system_is_scored_as_if_it_were_alone(pairs):
    other = [Segment(f"other {s.id}", s.references[0], s.references, system="other") for s in pairs[:30]]
    own = [Segment(s.id, s.hypothesis, s.references, system="own") for s in pairs]
    together = Cider().score([*other, *own], Runtime()).values
    assert together[30:].tolist() == Cider().score(own, Runtime()).values.tolist()
    assert together[:30].tolist() == Cider().score(other, Runtime()).values.tolist()
    assert "|pool:system|" in str(signature_of(Cider(), Runtime()))


def test_one_segment_is_refused():
    with pytest.raises(ng.InputError, match=r"^cider needs at least two segments of system 'b', found 1: from one"):
        ng.score({"b": ["a"]}, refs=["a"], metrics="cider")


def test_the_name_of_the_formula_is_a_preset():
    assert ng.metric("cider-d") == ng.metric("cider")


def test_the_contract_holds():
    check_metric(Cider())


def test_every_option_is_signed():
    assert check_options(Cider(tokenizer="13a")) == []
