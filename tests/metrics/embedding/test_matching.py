"""The grid between BERTScore and MoverScore: both ends are these metrics, and every cell can be written and scored."""

from itertools import product

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import SpecError
from nlgauge.core.spec import quote
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.metrics.embedding.matching import Matching
from nlgauge.metrics.embedding.moverscore import MoverScore
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options
from nlgauge.testing.segments import SEGMENTS

pytest.importorskip("torch")
CPU = Runtime(device="cpu")
ROUNDING = 1e-5  # float32, in batches of other shapes


@pytest.fixture(scope="module")
def scored(pairs):
    """The pairs without empty texts."""
    return [s for s in pairs if s.hypothesis.strip() and s.references[0].strip()]


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("special", ["match", "drop"])
def test_one_end_of_the_grid_is_bertscore(scored, plain, idf, special):
    theirs = BertScore(model=plain.folder, layer=2, idf=idf, special_tokens=special).score(scored, CPU)
    ours = Matching(model=plain.folder, layer=2, idf="references" if idf else "none", special_tokens=special).score(
        scored, CPU
    )
    weighed = ~theirs.flags["unweighted"]
    assert ours.values[weighed] == pytest.approx(theirs.values[weighed], abs=ROUNDING, nan_ok=True)
    assert np.isnan(ours.values[~weighed]).all()


@pytest.mark.parametrize("ngram", [1, 2])
def test_the_other_end_is_moverscore(scored, plain, ngram):
    theirs = MoverScore(model=plain.folder, ngram=ngram, idf=True).score(scored, CPU)
    metric = Matching(model=plain.folder, match=f"wmd{ngram}", pmeans=True, idf="both", drop_marks=True)
    ours = metric.score(scored, CPU)
    # In MoverScore special tokens weigh their idf, which is 0 like their weight here.
    assert ours.values == pytest.approx(theirs.values, abs=ROUNDING, nan_ok=True)


def test_every_cell_of_table_9_can_be_written_and_scored(scored, plain, tmp_path):
    """+MNLI is another model; PMEANS, IDF-S, IDF-L, SEP and RM; F, WMD1 and WMD2."""
    larger = tmp_path / "larger.txt"
    larger.write_text("the cat sat\na dog lay on the rug\nrain fell\n")
    weights = {"IDF-S": "idf=references", "IDF-L": f'idf=references,idf_file="{larger}"', "SEP": "idf=both"}
    specs = [
        f"matching:model={quote(str(plain.folder))},match={match},pmeans={pmeans},drop_marks={remove},{weight}"
        for match, pmeans, remove, weight in product(
            ("greedy", "wmd1", "wmd2"), ("false", "true"), ("false", "true"), weights.values()
        )
    ]
    found = score_segments({spec: ng.metric(spec) for spec in specs}, scored[:6], CPU)
    assert len(found) == 36
    columns = np.array([scores.values for scores in found.values()])
    assert np.isfinite(columns).all()
    assert len({tuple(column.round(6)) for column in columns}) == 36  # each switch changes something


@pytest.mark.parametrize("options", [{}, {"match": "wmd2", "pmeans": True, "drop_marks": True}], ids=str)
def test_matching_keeps_the_contract_of_a_metric(tiny_model, options):
    check_metric(Matching(model=str(tiny_model("bert")), **options), SEGMENTS[:10], runtime=CPU, tolerance=ROUNDING)


def test_every_option_is_in_the_signature(tiny_model, tmp_path):
    documents = tmp_path / "documents.txt"
    documents.write_text("a\nb\n")
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9, "layer": 1}
    metric = Matching(model=str(tiny_model("bert")), idf="references")
    others["idf_file"] = str(documents)
    assert check_options(metric, runtime=CPU, alternatives=others) == ["revision"]


def test_what_changes_nothing_is_refused():
    with pytest.raises(SpecError, match="matching:layer changes nothing beside pmeans=true"):
        ng.metric("matching:layer=2,pmeans=true")
    with pytest.raises(SpecError, match="matching:idf_file is where idf=references or idf=both takes"):
        ng.metric("matching:idf_file=x.txt")
