"""BEER: n-gram features and a score by hand, short texts, several references, and files that cannot be used."""

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import notes_of
from nlgauge.metrics.learned.beer import FEATURES, Beer, ngram_features
from nlgauge.metrics.learned.linear import LinearModel, Term
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

CPU = Runtime(device="cpu")


@pytest.fixture
def beer(tmp_path):
    def make(weights=None, name="beer.json", **options):
        weights = dict.fromkeys(FEATURES, 1.0) if weights is None else weights
        path = tmp_path / name
        terms = tuple(Term(feature, weights.get(feature, 0.0), 0.5, 0.25) for feature in FEATURES)
        path.write_text(LinearModel("beer", terms, 0.0, {"criterion": "da"}).text())
        return Beer(model=str(path), **options)

    return make


def features(hyp, ref):
    (row,), (empty,) = ngram_features([Segment("1", hyp, (ref,))], CPU)
    return dict(zip(FEATURES, row.tolist(), strict=True)), bool(empty)


def test_the_features_of_two_short_words():
    found, empty = features("ab", "abc")
    assert not empty
    # one character: 2 of 2 found, 2 of 3 covered; two: "ab" of "ab", of "ab" and "bc"
    assert [found[f"char1.{name}"] for name in ("precision", "recall", "f1")] == pytest.approx([1, 2 / 3, 4 / 5])
    assert [found[f"char2.{name}"] for name in ("precision", "recall", "f1")] == pytest.approx([1, 1 / 2, 2 / 3])
    # three: only the reference has one; above that and above one word nobody has any, so the order below counts
    assert {value for name, value in found.items() if name[:5] not in ("char1", "char2")} == {0.0}


def test_a_copy_has_every_feature_however_short_it_is():
    found, _ = features("Hi there", "Hi there")
    assert set(found.values()) == {1.0}


def test_a_score_lies_between_the_lowest_and_the_highest_sum(beer):
    # slopes 2 / 0.25 = 8 and -1 / 0.25 = -4: from -4 to 8
    metric = beer({"char1.f1": 2.0, "char1.precision": -1.0})
    (value,) = metric.score([Segment("1", "ab", ("abc",))], CPU).values
    assert value == pytest.approx((8 * 4 / 5 - 4 * 1 + 4) / 12)


@pytest.mark.parametrize("references", ["best", "mean"])
def test_it_keeps_the_contract_of_a_metric(beer, references):
    other = beer({"word1.f1": 1.0}, "other.json")
    check_metric(beer(references=references), runtime=CPU, alternatives={"model": other.model})


def test_several_references_by_the_best_or_the_mean(beer):
    refs = ("the cat sat", "heavy rain")
    each = [beer().score([Segment("1", "a cat sat", (ref,))], CPU).values[0] for ref in refs]
    both = [Segment("1", "a cat sat", refs)]
    assert beer().score(both, CPU).values[0] == max(each)
    assert beer(references="mean").score(both, CPU).values[0] == pytest.approx(sum(each) / 2)


def test_a_blank_side_is_the_worst(beer):
    rows = [Segment("1", " ", ("a cat",)), Segment("2", "a cat", ("",)), Segment("3", "a cat", ("rain fell",))]
    scores = beer({"char1.f1": -1.0}).score(rows, CPU)  # even where features count against a text
    assert scores.values[:2].tolist() == [0.0, 0.0]
    assert scores.flags["empty"].tolist() == [True, True, False]


def test_it_says_what_it_was_trained_on(beer):
    (note,) = notes_of(beer())
    assert note.startswith("trained on human ratings (rated for da); agreement with ratings of the same texts")


def test_files_that_cannot_be_used_are_told(beer, tmp_path):
    with pytest.raises(InputError, match=r"expected a weight for each of char1\.precision to word4\.f1, not all of"):
        beer({})
    path = tmp_path / "one.json"
    path.write_text(LinearModel("beer", (Term("char1.f1", 1.0, 0.0, 1.0),), 0.0).text())
    with pytest.raises(InputError, match=r"beer: .*one\.json: expected a weight for each of"):
        ng.metric(f'beer:model="{path}"')
    with pytest.raises(SpecError, match=r"beer needs the option 'model'; write beer:model=...; 'nlgauge train beer'"):
        ng.metric("beer")
