import csv
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.metrics.embedding import baseline

ROWS = {0: (0.1, 0.2, 0.15), 4: (0.5, 0.25, 0.75)}
units = st.floats(-1, 1)
bounds = st.floats(-1, 0.99)


def test_by_hand():
    # (0.8 - 0.6) / 0.4, what unrelated text gets, identity, an empty text
    assert baseline.rescale(np.array([0.8, 0.6, 1, 0]), 0.6) == pytest.approx([0.5, 0, 1, -1.5])


@given(a=units, b=units, bound=bounds)
def test_rescaling_keeps_the_order_and_the_ends(a, b, bound):
    one, other, worst, best = baseline.rescale(np.array([a, b, bound, 1.0]), bound)
    assert (one < other) <= (a < b)  # two values nearer than a rounding may fall together, never change places
    assert worst == 0
    assert best == 1


def test_a_file_is_read_with_commas_or_tabs(tmp_path):
    for name, mark in (("a.csv", ","), ("a.tsv", "\t")):
        lines = [["LAYER", "P", "R", "F"], *([str(n), *map(str, row)] for n, row in ROWS.items())]
        (tmp_path / name).write_text("\n".join(mark.join(line) for line in lines), encoding="utf-8")
        found = baseline.find(str(tmp_path / name), "any", "xx")
        assert found.rows == ROWS
        assert found.identity.startswith("sha256:")
        assert found.at(4).tolist() == [0.5, 0.25, 0.75]


def test_a_file_of_a_spreadsheet_begins_with_a_byte_order_mark(tmp_path):
    (tmp_path / "a.csv").write_text(baseline.as_text(ROWS), encoding="utf-8-sig")
    assert baseline.find(str(tmp_path / "a.csv"), "any", "xx").rows == ROWS


def test_what_is_written_is_read_back_by_us_and_by_bert_score(tmp_path):
    path = tmp_path / "baseline.csv"
    path.write_text(baseline.as_text(ROWS), encoding="utf-8")
    assert baseline.find(str(path), "any", "xx").rows == ROWS
    pandas = pytest.importorskip("pandas")
    # as bert_score 0.3.13 reads it: the row whose index is the layer, all columns but the first
    assert pandas.read_csv(path).iloc[0].to_numpy()[1:].tolist() == [0.1, 0.2, 0.15]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("LAYER,P,R\n0,1,2\n", r"baseline\.csv:2: expected the columns LAYER,P,R,F"),
        ("LAYER,P,R,F\n0,0.1,0.2,0.3\n1,0.1,much,0.3\n", r"baseline\.csv:3: expected"),
        ("LAYER,P,R,F\n1.5,0.1,0.2,0.3\n", r"baseline\.csv:2: expected"),
        ("LAYER,P,R,F\n0,0.1,0.2\n", r"baseline\.csv:2: expected"),
        ("LAYER,P,R,F\n", "no rows"),
        ("", "no rows"),
        ("LAYER,P,R,F\n0,nan,0.2,0.3\n", r"baseline\.csv:2: expected"),
        ("LAYER,P,R,F\n0,0.1,0.2,0.3\n0,0.1,0.2,0.4\n", r"baseline\.csv:3: layer 0 for the second time"),
        (None, "cannot read baseline"),
        (b"\xff\xfe", "cannot read baseline"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused_with_its_line(tmp_path, content, message):
    path = tmp_path / "baseline.csv"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message) as refused:
        baseline.find(str(path), "any", "en")
    assert "\n" not in str(refused.value)


def test_a_layer_without_a_row_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no layer 3, only 0, 4; make one with 'nlgauge train baseline'"):
        baseline.Baseline(ROWS, "own").at(3)


def test_a_baseline_of_one_or_more_would_turn_the_order_round():
    with pytest.raises(InputError, match=r"is 1\.000 at layer 0, expected below 1"):
        baseline.Baseline({0: (0.5, 1.0, 0.5)}, "own").at(0)


def test_bundled_baselines_are_bert_scores_own():
    bert_score = pytest.importorskip("bert_score")
    from pathlib import Path

    folder = Path(bert_score.__file__).parent / "rescale_baseline"
    checked = 0
    for path in sorted(folder.glob("*/**/*.tsv")):
        language, name = (
            path.relative_to(folder).parts[0],
            "/".join(path.relative_to(folder).parts[1:]).removesuffix(".tsv"),
        )
        with path.open(encoding="utf-8") as file:
            theirs = {int(row["LAYER"]): tuple(float(row[c]) for c in "PRF") for row in csv.DictReader(file)}
        assert baseline.find(None, name, language).rows == theirs
        checked += 1
    assert checked == sum(1 for (_, name) in baseline._bundled() if name != "embedded")


def test_a_model_is_found_by_its_last_name_too():
    known = baseline.find(None, "roberta-large", "en")
    assert baseline.find(None, "FacebookAI/roberta-large", "en") == known
    assert known.identity == "en/roberta-large"


def test_a_model_without_a_baseline_is_refused_with_a_way_out():
    # bert_score leaves the values unscaled there and says "rescaled" in its signature
    with pytest.raises(
        InputError,
        match=(
            r"no baseline comes with the package for model 'my-model' .*nlgauge train baseline TEXTS --model my-model"
        ),
    ):
        baseline.find(None, "my-model", "en")
    with pytest.raises(InputError, match=r"language 'fr'; bundled for it: en;"):
        baseline.find(None, "embedded", "fr")


def test_the_embedded_baseline_has_every_layer_below_one():
    rows = baseline.find(None, "embedded", "en").rows
    assert sorted(rows) == list(range(7))
    assert all(0 < value < 1 for row in rows.values() for value in row)
    assert files("nlgauge.data").joinpath("baselines", "nlgauge.tsv").is_file()


def test_a_lone_carriage_return_is_told_in_one_line(tmp_path):
    path = tmp_path / "baseline.csv"
    path.write_bytes(b"LAYER,P,R,F\n0,1\r2,3,4\n")
    with pytest.raises(InputError, match=r"baseline\.csv: .*; expected LAYER,P,R,F") as told:
        baseline.find(str(path), "any", "xx")
    assert "\n" not in str(told.value)
