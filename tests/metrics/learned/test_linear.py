"""A linear model in a file: its arithmetic by hand, the same after a trip through the file, and what is refused."""

import json

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import trained_on
from nlgauge.core.segment import Segment
from nlgauge.metrics.learned.linear import FEATURES, Beer, Blend, LinearModel, Term, ngram_features, read_linear
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

MODEL = LinearModel("blend", (Term("chrf", 0.5, 40.0, 10.0), Term("ter", -0.2, 2.0, 4.0)), 0.1, {"criterion": "da"})


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "model.json"
    file.write_text(MODEL.text())
    return file


def test_weights_are_of_standard_deviations():
    assert MODEL.slopes == pytest.approx([0.05, -0.05])
    assert MODEL.origin == pytest.approx(0.1 - 0.05 * 40 + 0.05 * 2)


def test_a_file_gives_back_what_was_written(path):
    found = read_linear(str(path), "blend")
    assert (found.kind, found.terms, found.intercept, found.about) == ("blend", MODEL.terms, 0.1, {"criterion": "da"})
    assert found.digest.startswith("sha256:")
    assert found.facts() == {"model": "file", "weights": found.digest, "trained": "human ratings"}


def changed(path, **changes):
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "beer"}, "is nlgauge-linear 1 beer, expected nlgauge-linear 1 blend; name another file"),
        ({"version": 2}, "is nlgauge-linear 2 blend, expected nlgauge-linear 1 blend"),
        ({"version": "a\nb"}, "is nlgauge-linear a b blend, expected nlgauge-linear 1 blend"),
        ({"terms": [{"name": "a\nb", "weight": 1, "mean": 0, "sd": 1}] * 2}, "of different names, got a b, a b"),
        ({"terms": []}, "expected terms of different names, got none"),
        (
            {"terms": [{"name": "a", "weight": 1, "mean": 0, "sd": 1}] * 2},
            "expected terms of different names, got a, a",
        ),
        ({"terms": [{"name": "a", "weight": 1, "mean": 0, "sd": 0}]}, "expected finite numbers, and each sd above 0"),
        ({"terms": [{"name": "a", "weight": 1}]}, "is no model, expected JSON as 'nlgauge train blend' writes it"),
        ({"terms": [{"name": "a", "weight": "x", "mean": 0, "sd": 1}]}, "is no model, expected JSON"),
        ({"terms": [{"name": "a", "weight": 1, "mean": 0, "sd": "1"}]}, "is no model, expected JSON"),
        ({"terms": [{"name": ["a"], "weight": 1, "mean": 0, "sd": 1}]}, "expected terms of different names, got ['a']"),
        ({"terms": [{"name": "a", "weight": 10**400, "mean": 0, "sd": 1}]}, "is no model, expected JSON"),
        ({"intercept": "0"}, "is no model, expected JSON"),
        ({"kind": "x" * 9999}, "x, expected nlgauge-linear 1 blend; name another file"),
        ({"intercept": float("nan")}, "expected finite numbers"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value),
)
def test_what_is_no_model_is_told_in_a_line(path, changes, message):
    changed(path, **changes)
    with pytest.raises(InputError) as caught:
        read_linear(str(path), "blend")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_damaged_file_and_none_at_all_are_told_in_a_line(path, tmp_path):
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(InputError, match=r"model\.json is no model, expected JSON"):
        read_linear(str(path), "blend")
    with pytest.raises(
        InputError, match=r"cannot read .*: No such file or directory; 'nlgauge train blend' writes one"
    ):
        read_linear(str(tmp_path / "absent.json"), "blend")
    with pytest.raises(InputError, match=r"cannot read .*: Is a directory"):
        read_linear(str(tmp_path), "blend")


# --- BEER: n-gram features and a score by hand, short texts, several references, and files that cannot be used

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
    (note,) = beer().notes
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


# --- BLEND: a sum by hand, what it takes over from its terms, empty sides, and files that cannot be used

PLAIN = (Term("chrf", 0.5, 40.0, 10.0), Term("ter", 0.2, -60.0, 20.0))  # scores for which higher is better
ROWS = [Segment("1", "the cat sat on the mat", ("a cat sat on the mat",)), Segment("2", "rain", ("heavy rain fell",))]


@pytest.fixture
def blend(tmp_path):
    def make(*terms, name="blend.json", trust=False, **about):
        path = tmp_path / name
        path.write_text(LinearModel("blend", terms or PLAIN, 0.1, {"criterion": "da", "low": -2.5} | about).text())
        return Blend(model=str(path), trust=trust)

    return make


def test_blend_it_keeps_the_contract_of_a_metric(blend):
    other = blend(Term("chrf", 1.0, 0.0, 10.0), name="other.json")
    # the sum of two products, whose last bit may differ
    check_metric(blend(), runtime=CPU, alternatives={"model": other.model}, tolerance=1e-12)


def test_the_value_is_the_intercept_plus_standardised_scores(blend):
    chrf, ter = (ng.metric(name).score(ROWS, CPU).values for name in ("chrf", "ter"))
    scores = blend().score(ROWS, CPU)
    # an error rate counts with its sign turned
    assert scores.values == pytest.approx(0.1 + 0.5 * (chrf - 40) / 10 + 0.2 * (-ter + 60) / 20)
    assert scores.parts["chrf"].tolist() == chrf.tolist()
    assert scores.parts["ter"].tolist() == ter.tolist()


def test_what_is_empty_gets_the_lowest_rating_of_training(blend):
    scores = blend().score([Segment("1", " ", ("a cat",)), Segment("2", "a cat", ("",)), *ROWS], CPU)
    assert scores.values[:2].tolist() == [-2.5, -2.5]
    assert scores.flags["empty"].tolist() == [True, True, False, False]


def test_terms_bring_their_needs_and_marks(blend, tiny_regressor):
    head = tiny_regressor(features="hyp,src,hyp*src,|hyp-src|", trained_on_phenomena="typos", criterion="da")
    metric = blend(
        Term("chrf", 1.0, 0.0, 1.0), Term(f'comet-qe:model="{head}"', 1.0, 0.0, 1.0), trust=True, data="WMT15 DA"
    )
    assert metric.info.needs == {"references", "source"}
    assert trained_on(metric) == ("typos",)
    said = metric.notes
    assert said[0].startswith("trained on human ratings (WMT15 DA); ")
    assert any("trained on human ratings (rated for da)" in note for note in said[1:])


def test_a_pooled_term_makes_a_pooled_blend(blend):
    assert blend(Term("cider", 1.0, 0.0, 1.0)).pooled
    assert not blend().pooled


def test_a_segment_without_a_score_is_undefined(blend, tmp_path):
    table = tmp_path / "theirs.tsv"
    table.write_text("id\tx\n1\t2\n2\t\n")
    values = blend(Term(f'scores:file="{table}",column=x', 3.0, 1.0, 1.0), trust=True).score(ROWS, CPU).values
    assert values[0] == pytest.approx(0.1 + 3 * (2 - 1))
    assert np.isnan(values[1])


@pytest.mark.parametrize(
    "spec", ['spice:jar="x.jar"', "command:./x.sh", "bertscore:model=roberta-large", 'scores:file="x.tsv"']
)
def test_a_file_names_no_program_path_or_model_of_its_own(blend, spec):
    with pytest.raises(InputError, match=r"stands in a file, and .*; of a file that you made yourself, trust=true"):
        blend(Term("chrf", 1.0, 0.0, 1.0), Term(spec, 1.0, 0.0, 1.0))


@pytest.mark.parametrize("trust", [False, True])
def test_a_file_that_names_itself_is_refused_in_one_line(blend, tmp_path, trust):
    itself = f'blend:model="{tmp_path / "blend.json"}",trust=true'
    with pytest.raises(InputError, match="names itself" if trust else "stands in a file") as refused:
        blend(Term(itself, 1.0, 0.0, 1.0), trust=trust)
    assert "\n" not in str(refused.value)


def test_a_chain_of_files_without_an_end_is_refused_in_one_line(blend, tmp_path):
    last = "chrf"
    for number in range(300):
        name = f"{number}.json"
        blend_file = LinearModel("blend", (Term(last, 1.0, 0.0, 1.0),), 0.1, {"criterion": "da", "low": 0.0})
        (tmp_path / name).write_text(blend_file.text())
        last = f'blend:model="{tmp_path / name}",trust=true'
        if number == 9:
            assert ng.metric(last).score(ROWS, CPU).values.shape == (2,)
    with pytest.raises(InputError, match="more than 10 files of blends name one another") as refused:
        ng.metric(last)
    assert "\n" not in str(refused.value)


def test_blend_files_that_cannot_be_used_are_told(blend):
    with pytest.raises(InputError, match=r"blend: .*blend\.json: unknown metric 'chrff'.*did you mean 'chrf'"):
        blend(Term("chrff", 1.0, 0.0, 1.0))
    with pytest.raises(InputError, match="low is None, expected the lowest rating of training"):
        blend(low=None)
    for low in (10**400, True, float("nan")):
        with pytest.raises(InputError, match=r"low is .*, expected the lowest rating of training"):
            blend(low=low)
    with pytest.raises(SpecError, match=r"blend needs the option .model.; write blend:model=.*; .nlgauge train blend"):
        ng.metric("blend")


def test_the_texts_of_frequencies_stand_in_the_signature(blend):
    # as in a sum: another pool is another idf
    built = blend(Term("yisi0", 1.0, 0.0, 1.0))
    one, other = (score_segments({"": built}, rows, CPU)[""].signature for rows in (ROWS, [*ROWS, ROWS[0]]))
    assert "documents:sha256:" in str(one)
    third = Segment("3", "rain", ("snow fell",))
    assert str(one) == str(other) != str(score_segments({"": built}, [*ROWS, third], CPU)[""].signature)
