"""Tables of thresholds: what a curve says by hand, other signatures and bad files."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests.scoring.conftest import CHRF, SETS

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.metric import signature_of
from nlgauge.core.result import Result
from nlgauge.scoring.thresholds import AgreementCurve, identity, read_thresholds, with_agreement


def test_what_a_difference_says_by_hand(entry):
    assert entry().agreement(1.0, 500) == pytest.approx((3 / 4, 2 / 3, 5 / 6))
    assert entry().agreement(-1.0, 500) == entry().agreement(1.0, 500)  # people agree with the order, whichever it is
    assert entry().agreement(0.0, 500) == (0.5, 0.5, 0.5)


def test_nothing_is_said_of_what_was_not_seen(entry):
    assert entry().agreement(2.0, 500) is not None
    assert entry().agreement(2.01, 500) is None
    assert entry().agreement(1.0, 99) is None
    assert entry().agreement(1.0, 5000) == entry().agreement(1.0, 1000)


def test_curves_over_the_difference_by_hand():
    # odds of 3 to 1 at 1 are 9 to 1 at 2; over 2,000 segments, four times 500, a power of 1/2 doubles the slope
    plain = AgreementCurve("logistic", np.array([math.log(3)]), np.empty(0))
    assert plain.share(np.array([0.0, 2.0, -1.0])).tolist() == pytest.approx([0.5, 0.9, 0.25])
    of_n = AgreementCurve("logistic_n", np.array([math.log(3), 0.5]), np.empty(0))
    assert (of_n.share(1.0), of_n.share(1.0, 2000)) == pytest.approx((0.75, 0.9))
    bent = AgreementCurve("isotonic", np.array([[0.5, 0.7], [0.5, 0.8]]), np.array([0.0, 2.0]))
    assert bent.share(1.0).tolist() == pytest.approx([0.6, 0.65])  # half way, of two curves at once
    assert bent.share(-9.0).tolist() == pytest.approx([0.3, 0.2])  # behind the last knot


def in_json(spec="chrf", **more):
    """The object of a file whose curve is that of `made`."""
    draws = [[math.log(2)], [math.log(5)]]
    metric = {
        "spec": spec, "signature": CHRF, "references": [1, 1], "form": "logistic", "parameters": [math.log(3)],
        "knots": [], "draws": draws * 50, "largest": 2.0, "n": [100, 1000], **more,
    }  # fmt: skip
    return {"schema": 1, "kind": "thresholds", "about": "news", "sets": [*map(dict, SETS)], "metrics": [metric]}


def test_a_file_says_what_its_curves_say(tmp_path, entry):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(in_json()))
    read = read_thresholds(str(path))
    assert (read.about, read.sets, read.name, len(read.sha256)) == ("news", SETS, str(path), 64)
    assert read.metrics[0].agreement(0.7, 100) == pytest.approx(entry().agreement(0.7, 100))
    assert (read.metrics[0].n, read.metrics[0].references, read.metrics[0].largest) == ((100, 1000), (1, 1), 2.0)


def test_versions_and_documents_make_no_other_metric(table, chrf):
    newer = chrf.replace("2.6.0", "3.0").replace("0.1.0", "9.9")
    assert table.of(newer, {1}) is table.metrics[0]
    nested = "metric:combination|terms:0.5*(metric:bleu|a:1|nlgauge:0.1.0) + 0.5*(metric:chrf|nlgauge:0.1.0)|norm:none"
    assert identity(nested) == "metric:combination|terms:0.5*(metric:bleu|a:1) + 0.5*(metric:chrf)|norm:none"


@pytest.mark.parametrize(
    ("change", "references", "reason"),
    [
        (("word_order:0", "word_order:2"), {1}, "fitted with word_order 0, here 2"),
        (("metric:chrf", "metric:bleu"), {1}, "fitted for chrf"),
        (("", ""), {4}, "fitted with 1 reference per segment, here 4 references"),
        (("", ""), {1, 2}, "fitted with 1 reference per segment, here 1 to 2 references"),
    ],
)
def test_another_signature_is_refused(table, chrf, change, references, reason):
    found = table.of(chrf.replace(*change), references)
    assert isinstance(found, str)
    assert reason in found


def test_a_run_without_any_known_metric_is_refused(table, chrf):
    with pytest.raises(InputError, match=r"t\.json: nothing is known of ter: it was fitted for chrf"):
        table.check({"ter": "metric:ter"})
    table.check({"ter": "metric:ter", "chrf": chrf})
    table.check({})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.update(kind="meta"), "got kind 'meta'"),
        (lambda f: f.update(schema=2), "schema is 2, expected 1"),
        (lambda f: f["metrics"][0].pop("parameters"), "no 'parameters'"),
        (lambda f: f["metrics"][0].update(form="cubic"), "chrf: form is 'cubic'"),
        (lambda f: f["metrics"][0].update(parameters=[1, 2]), r"chrf: logistic has parameters of shape \(2,\)"),
        (lambda f: f["metrics"][0].update(draws=[]), "chrf: logistic has parameters"),
        (lambda f: f["metrics"][0].update(largest=-1), "chrf: a number is not finite or out of its range"),
        (lambda f: f["metrics"][0].update(n=[10, 1]), "chrf: a number is not finite or out of its range"),
        (lambda f: f["metrics"][0].update(form="isotonic", knots=[1, 0], parameters=[1, 1], draws=[[1, 1]]), "knots"),
        (lambda f: f.update(metrics=[3]), "damaged table"),
        (lambda f: f.update(sets=[{}]), "no 'systems'"),
        (lambda f: f["sets"][0].pop("group"), "no 'group'"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path, change, said):
    path = tmp_path / "t.json"
    content = in_json()
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=said) as caught:
        read_thresholds(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"), [("{", "a table of thresholds in JSON"), ("[1]", "got kind 'list'"), (None, "cannot read")]
)
def test_what_is_no_table_is_refused(tmp_path, content, said):
    path = tmp_path / "t.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=said):
        read_thresholds(str(path))


def test_the_shipped_table_knows_the_metrics_as_they_are():
    """An option with another default would leave the table without a metric; its signature shows it here."""
    table = read_thresholds("shipped")
    assert len(table.metrics) > 20
    now = {one.spec: str(signature_of(ng.metric(one.spec), ng.Runtime())) for one in table.metrics}
    lost = [one.spec for one in table.metrics if table.of(now[one.spec], {1}) is not one]
    assert lost == [], "fit them again by recipes/tools/thresholds/translation.py; a mere new digest: mend the table"
    assert "translation into English" in table.note()
    two_points = {one.spec: one.agreement(2.0, 500) for one in table.metrics if one.spec in ("bleu", "chrf")}
    assert all(0.55 < share < 0.65 for share, _, _ in two_points.values())  # 0.60 and 0.61


# --- Agreement beside differences in a result: rows by hand, and notes on what is not known


def row(system, delta=None, metric="chrf", **more):
    return {
        "system": system,
        "metric": metric,
        "value": 50.0,
        "low": 49.0,
        "high": 51.0,
        "n": 500,
        "delta": delta,
    } | more


@pytest.fixture
def beside(table, chrf):
    """What becomes of rows."""
    ter = {"spec": "ter", "signature": "metric:ter", "higher_is_better": False}
    metrics = [{"spec": "chrf", "signature": chrf, "higher_is_better": True}, ter]
    return lambda *rows, **known: with_agreement(Result("score", rows, metrics=metrics), table, **known)


def test_rows_by_hand(beside):
    found = beside(
        row("a", baseline="a"), row("b", -1.0, baseline="a"), row("c", 3.0, baseline="a"), row("b", 2.0, "ter")
    )
    base, worse, far, other = found.rows
    assert "agreement" not in base
    assert [worse[f"agreement{end}"] for end in ("", "_low", "_high")] == pytest.approx([3 / 4, 2 / 3, 5 / 6])
    assert worse["agreement_seen"] == far["agreement_seen"] == 2.0
    assert [far[f"agreement{end}"] for end in ("", "_low", "_high")] == [None, None, None]
    assert "agreement" not in other
    assert any(note.startswith("people agree: share of pairs") and "mqm" in note for note in found.notes)
    assert "ter: t.json does not say how often people agree: it was fitted for chrf" in found.notes


def test_pairs_take_n_from_their_system(beside):
    few = beside(row("a", n=90), {**row("a", 1.0, against="b"), "n": 90})
    assert few.rows[1]["agreement"] is None
    assert any("not known for 90 segments, 100 are the fewest seen" in note for note in few.notes)
    pair = {key: value for key, value in row("a", 1.0, against="b").items() if key != "n"}
    assert beside(row("a"), pair).rows[1]["agreement"] == pytest.approx(0.75)


def test_other_numbers_of_references_are_noted(beside):
    found = beside(row("b", 1.0), references={"chrf": {4}})
    assert "agreement" not in found.rows[0]
    assert any("fitted with 1 reference per segment, here 4 references" in note for note in found.notes)


def test_more_segments_than_seen_are_noted(beside):
    found = beside({**row("b", 1.0), "n": 5000})
    assert found.rows[0]["agreement"] == pytest.approx(0.75)
    assert "chrf: pairs were seen over at most 1000 segments; over 5000 people may agree more often" in found.notes
