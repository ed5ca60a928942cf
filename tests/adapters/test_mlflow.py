"""Rows scored one by one: the numbers of one call, reasons where there is none, and any number of threads."""

from __future__ import annotations

import math
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.adapters.mlflow import RowScorer, _Row, as_mlflow
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.scores import MetricInfo, Scores

HYPS = ["it rains", "a cat sat", "", "the dog " * 9]
REFS = [["it is raining", "rain falls"], ["the cat sat"], ["a dog"], ["the dog"]]


@pytest.fixture(scope="module")
def scorer():
    return RowScorer(["chrf", "bleu", "ter", "rougeL"])


def test_rows_have_the_scores_of_one_call(scorer):
    whole = ng.score(HYPS, REFS, metrics=["chrf", "bleu", "ter", "rougeL"])
    for i, (hyp, refs) in enumerate(zip(HYPS, REFS, strict=True)):
        row = scorer.score(hyp, refs)
        assert {spec: one.value for spec, one in row.items()} == {spec: s.values[i] for spec, s in whole.items()}
        for spec, one in row.items():
            assert one.signature == str(whole[spec].signature)
            assert one.parts == {name: part[i] for name, part in whole[spec].parts.items()}
            assert one.higher_is_better is whole[spec].higher_is_better
            assert set(one.flags) == {name for name, mask in whole[spec].flags.items() if mask[i]}


def test_a_row_says_in_words_what_is_odd_about_it(scorer):
    empty = scorer.score("", ["a dog"])["chrf"]
    assert (empty.value, empty.flags, empty.lacking) == (0.0, ("empty",), "")
    assert empty.notes == ("chrf: an empty side; it gets the worst value",)
    assert scorer.score(HYPS[3], ["the dog"])["ter"].notes == ("a hypothesis that says the same words again and again",)
    assert scorer.score("a cat", ["a dog"])["chrf"].notes == ()


def test_what_a_metric_lacks_is_its_reason_and_the_others_score():
    scorer = RowScorer(["chrf", "fluency"], where={"references": "column expected"})
    chrf, fluency = scorer.score("It rains today.").values()
    assert chrf.value is None
    assert chrf.lacking == "chrf needs references, and the row has none; expected it in column expected"
    assert (type(fluency.value), fluency.lacking) == (float, "")
    assert chrf.signature == RowScorer("chrf").score("a", ["a"])["chrf"].signature
    assert {one.lacking for one in scorer.without_text("no answer").values()} == {"no answer"}


@dataclass(frozen=True)
class Broken(BaseMetric):
    """A metric without a number for some texts, which loads a model."""

    info = MetricInfo("broken", needs=frozenset(), range=(-math.inf, math.inf))

    def score(self, segments, runtime):
        load = runtime.once("model of broken", lambda: LOADS.append(1) or BUSY)
        with load:
            values = [{"hole": math.nan, "inf": math.inf}.get(s.hypothesis, float(len(s.hypothesis))) for s in segments]
        return Scores(signature_of(self, runtime), tuple(s.id for s in segments), np.array(values))


class Busy:
    """Raises if two threads are in it at once, as a model might that keeps something between two steps."""

    def __init__(self):
        self.inside = threading.Lock()

    def __enter__(self):
        assert self.inside.acquire(blocking=False), "two rows are scored at once"
        threading.Event().wait(0.001)  # lets other threads run

    def __exit__(self, *_):
        self.inside.release()


LOADS: list[int] = []
BUSY = Busy()


@pytest.mark.parametrize("text", ["hole", "inf"])
def test_a_number_that_is_none_is_no_score(text):
    (one,) = RowScorer(Broken()).score(text).values()
    assert one.value is None
    assert one.lacking == f"the score by broken is {'undefined' if text == 'hole' else 'inf'}"


def test_many_threads_load_a_model_once_and_never_score_at_once():
    LOADS.clear()
    scorer = RowScorer(Broken())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: scorer.score("x" * n)["broken"].value, range(64)))
    assert found == list(range(64))
    assert LOADS == [1]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("bertscore:idf=true", "^bertscore:idf=true takes frequencies or a scale from all texts of a call, and here"),
        ("0.5*chrf+0.5*bleu", r"^0\.5\*chrf\+0\.5\*bleu takes frequencies or a scale"),
        ("parent", "^parent needs table, which a row does not hold"),
        ("chrff", "^unknown metric 'chrff'"),
        ([], "^no metric is named"),
    ],
)
def test_metrics_that_cannot_score_a_row_are_refused_at_once(spec, said):
    with pytest.raises(ng.SpecError, match=said):
        RowScorer(spec)


CHRF = RowScorer("chrf")


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=2))
def test_any_text_has_a_score_or_a_reason(text, references):
    (one,) = CHRF.score(text, references).values()
    assert (one.value is None) == bool(one.lacking) == (not references)
    assert one.value is None or 0 <= one.value <= 100


# --- MLflow's scorer: where the texts of a row are, what is stored of a score, and MLflow itself where it is installed

MLFLOW_REFS = ["it is raining", "it rains"]


@pytest.fixture(scope="module")
def chrf():
    return RowScorer("chrf", where=_Row(None).where)


def value(chrf, inputs=None, outputs=None, expectations=None, columns=None):
    """The score of a row, or the reason why it has none."""
    one = _Row(columns).scores(chrf, inputs, outputs, expectations)["chrf"]
    return one.lacking if one.value is None else one.value


EXPECTED = {"expected_response": MLFLOW_REFS[0]}
ONE = ng.score(["it rains"], MLFLOW_REFS[:1], metrics="chrf")["chrf"].values[0]
BOTH = ng.score(["it rains"], [MLFLOW_REFS], metrics="chrf")["chrf"].values[0]


@pytest.mark.parametrize(
    "outputs",
    [
        "it rains",
        {"response": "it rains"},
        {"answer": "it rains", "tokens": 3, "documents": ["x"]},
        {"choices": [{"message": {"role": "assistant", "content": "it rains"}}], "model": "m"},
        ["it rains"],
        {"choices": [{"message": {"content": [{"type": "text", "text": "it "}, {"type": "text", "text": "rains"}]}}]},
        {"id": "r", "output": [{"type": "reasoning"}, {"type": "message", "content": [{"text": "it rains"}]}]},
        {"messages": [{"role": "user", "content": "weather?"}, {"role": "assistant", "content": "it rains"}]},
    ],
)
def test_the_text_is_found_where_applications_put_it(chrf, outputs):
    assert value(chrf, outputs=outputs, expectations=EXPECTED) == ONE


@pytest.mark.parametrize("name", ["expected_response", "expected_output", "reference", "references", "ground_truth"])
def test_references_are_found_under_usual_names_one_or_several(chrf, name):
    assert value(chrf, outputs="it rains", expectations={name: MLFLOW_REFS[0], "other": "x"}) == ONE
    assert value(chrf, outputs="it rains", expectations={name: MLFLOW_REFS}) == BOTH != ONE


def test_columns_say_where_texts_are_elsewhere(chrf):
    columns = {"hyp": "outputs.text.body", "ref": "inputs.gold.text"}
    row = {"outputs": {"text": {"body": "it rains"}, "more": "x", "again": "y"}, "inputs": {"gold.text": MLFLOW_REFS}}
    assert value(chrf, **row, columns=columns) == BOTH  # a key with a dot in it is found as it is
    assert value(chrf, **row, columns={**columns, "hyp": "outputs.lost.body"}) == (
        "outputs.lost.body is NoneType, expected a text"
    )


def test_a_source_is_the_only_string_of_the_inputs_or_one_of_a_usual_name():
    class Reads:
        def score(self, hypothesis, references, source):
            return source

    for inputs in ("es regnet", {"text": "es regnet", "n": 3}, {"document": "es regnet", "style": "short"}):
        assert _Row(None).scores(Reads(), inputs, "it rains", None) == "es regnet"
    for inputs in (None, {}, {"first": "es regnet", "second": "x"}, {"document": 3}, ["es regnet"]):
        assert _Row(None).scores(Reads(), inputs, "it rains", None) is None
    assert (
        _Row({"src": "inputs.second"}).scores(Reads(), {"first": "x", "second": "es regnet"}, "a", None) == "es regnet"
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({}, "the row has no outputs: the application gave none"),
        ({"outputs": 3}, "outputs is int, expected a text"),
        ({"outputs": ["it rains", "x"]}, "outputs is list, expected a text"),
        (
            {"outputs": {}},
            "outputs holds no keys, and which is the text cannot be told; say so: columns={'hyp': 'outputs.KEY'}",
        ),
        (
            {"outputs": {"a": "x", "b": "y"}},
            "outputs holds 'a', 'b', and which is the text cannot be told; say so: columns={'hyp': 'outputs.KEY'}",
        ),
        (
            {"outputs": "it rains", "expectations": {"expected_facts": ["it rains"]}},
            "chrf needs references, and the row has none; expected it in expectations: expected_response,"
            " expected_output, reference, references, ground_truth, target or answer",
        ),
        (
            {"outputs": "it rains", "expectations": {"reference": ""}},  # no answer was expected, as in logs
            "chrf needs references, and the row has none; expected it in expectations: expected_response,"
            " expected_output, reference, references, ground_truth, target or answer",
        ),
        (
            {"outputs": "it rains", "expectations": {"reference": ["x", None]}},
            "a reference of the row is no text, expected a string or a list of strings",
        ),
    ],
)
def test_a_row_without_a_text_says_why(chrf, row, said):
    assert value(chrf, **row) == said


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"hyps": "outputs.a"}, r"^columns name a field 'hyps'; did you mean 'hyp'"),
        (
            {"hyp": "answer"},
            r"^columns say that hyp is in 'answer', expected a place in inputs, outputs or expectations, ",
        ),
        ({"ref": "expectations.a", "refs": "expectations.b"}, "^columns name both ref and refs, expected one of them"),
    ],
)
def test_a_wrong_column_is_refused_at_once(columns, said):
    with pytest.raises(ng.InputError, match=said):
        _Row(columns)


def test_without_mlflow_the_extra_is_named(monkeypatch):
    for name in ("mlflow", "mlflow.entities", "mlflow.genai", "mlflow.genai.scorers"):
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    with pytest.raises(ng.MissingExtra, match=r"^a scorer of MLflow needs packages .* pip install 'nlgauge\[mlflow\]'"):
        as_mlflow("chrf")


@pytest.fixture
def mlflow(monkeypatch, tmp_path):
    for name in ("MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK"):
        monkeypatch.setenv(name, "true")  # it asks a server of its makers, and is slow to learn that there is none
    return pytest.importorskip("mlflow.genai.scorers") and pytest.importorskip("mlflow")


def test_a_scorer_gives_feedback_with_its_source_and_signature(mlflow):
    scorer = as_mlflow("chrf:word_order=2")
    assert isinstance(scorer, mlflow.genai.scorers.Scorer)
    found = scorer(outputs="it rains", expectations=EXPECTED)
    whole = ng.score(["it rains"], MLFLOW_REFS[:1], metrics="chrf:word_order=2")["chrf:word_order=2"]
    assert (scorer.name, found.name, found.value) == ("chrf_word_order_2",) * 2 + (whole.values[0],)
    assert (found.source.source_type, found.source.source_id) == ("CODE", "nlgauge:chrf:word_order=2")
    assert found.metadata == {
        "signature": str(whole.signature),
        "spec": "chrf:word_order=2",
        "higher_is_better": "true",
    }
    assert (found.error, found.rationale) == (None, None)


def test_several_metrics_are_several_feedbacks_of_which_each_may_lack_its_score(mlflow):
    scorer = as_mlflow(["rougeL", "ter"], name="words")
    assert scorer.name == "words"
    rouge, ter = scorer.run(inputs={}, outputs="", expectations=EXPECTED, trace=None)
    assert (rouge.value, ter.value) == (0.0, 100.0)
    assert (rouge.metadata["flags"], rouge.metadata["part.precision"]) == ("empty", "0.0")
    assert ter.rationale == "ter: an empty side; it gets the worst value"
    assert ter.metadata["higher_is_better"] == "false"
    for one in scorer(outputs="it rains", expectations={}):
        assert one.value is None
        assert (one.error.error_code, one.error.error_message.split(",")[0]) == (
            "UNDEFINED",
            f"{one.name} needs references",
        )


def test_an_evaluation_of_mlflow_averages_what_has_a_score(mlflow, monkeypatch, tmp_path):
    """The mean of MLflow is that of the rows with a score: an error that counted as 0 would pull it down."""
    pytest.importorskip("sqlalchemy")  # which mlflow-skinny does not bring
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_GENAI_EVAL_MAX_WORKERS", "4")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    texts = ["it rains", "the rain", "it is raining", None]
    data = [
        {"inputs": {"question": str(i)}, "outputs": {"a": 1} if text is None else text, "expectations": EXPECTED}
        for i, text in enumerate(texts)
    ]
    found = mlflow.genai.evaluate(data=data, scorers=[as_mlflow(["chrf:word_order=2", "bleu"])])
    whole = ng.score(texts[:3], MLFLOW_REFS[:1] * 3, metrics=["chrf:word_order=2", "bleu"])
    assert found.metrics["chrf_word_order_2/mean"] == pytest.approx(whole["chrf:word_order=2"].values.mean())
    assert found.metrics["bleu/mean"] == pytest.approx(whole["bleu"].values.mean())
    stored = {
        (assessment.name, assessment.value if assessment.error is None else None, assessment.metadata["signature"])
        for trace in mlflow.search_traces(run_id=found.run_id, return_type="list")
        for assessment in trace.info.assessments
        if assessment.feedback is not None
    }
    assert {(name, round(value, 9) if value is not None else None) for name, value, _ in stored} == {
        *(("bleu", round(value, 9)) for value in (*whole["bleu"].values,)),
        *(("chrf_word_order_2", round(value, 9)) for value in whole["chrf:word_order=2"].values),
        *(("bleu", None), ("chrf_word_order_2", None)),
    }
    assert {signature for _, _, signature in stored} == {str(one.signature) for one in whole.values()}
