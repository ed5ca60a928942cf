"""BLEND: a sum by hand, what it takes over from its terms, empty sides, and files that cannot be used."""

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import notes_of, trained_on
from nlgauge.metrics.learned.blend import Blend
from nlgauge.metrics.learned.linear import LinearModel, Term
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

CPU = Runtime(device="cpu")
PLAIN = (Term("chrf", 0.5, 40.0, 10.0), Term("ter", 0.2, -60.0, 20.0))  # scores for which higher is better
ROWS = [Segment("1", "the cat sat on the mat", ("a cat sat on the mat",)), Segment("2", "rain", ("heavy rain fell",))]


@pytest.fixture
def blend(tmp_path):
    def make(*terms, name="blend.json", trust=False, **about):
        path = tmp_path / name
        path.write_text(LinearModel("blend", terms or PLAIN, 0.1, {"criterion": "da", "low": -2.5} | about).text())
        return Blend(model=str(path), trust=trust)

    return make


def test_it_keeps_the_contract_of_a_metric(blend):
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
    said = notes_of(metric)
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


@pytest.mark.parametrize("spec", ['external:module="x.py"', "bertscore:model=roberta-large", 'scores:file="x.tsv"'])
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


def test_files_that_cannot_be_used_are_told(blend):
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
