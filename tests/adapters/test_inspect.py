"""inspect_ai's scorer: what it reads of a sample and stores, and a whole evaluation where inspect_ai is installed."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

import nlgauge as ng
from nlgauge.adapters import inspect as adapter
from nlgauge.adapters.inspect import as_inspect
from nlgauge.adapters.mlflow import RowScorer
from nlgauge.core.errors import SpecError

REFS = ["it is raining", "rain falls"]


def state(answer="it rains", source="es regnet", **metadata):
    """As much of a `TaskState` as a scorer reads; None is a model that gave no output."""
    output = SimpleNamespace(choices=[] if answer is None else [answer], completion=answer or "")
    return SimpleNamespace(output=output, input_text=source, metadata=metadata, sample_id="a")


class Reads:
    """Gives back what it is to score."""

    def score(self, *row):
        return row

    def without_text(self, reason):
        return reason


@pytest.mark.parametrize(
    ("given", "target", "source", "row"),
    [
        (state(), REFS, "input", ("it rains", tuple(REFS), "es regnet")),
        (state(""), [""], "input", ("", (), "es regnet")),  # a sample without a target has an empty one
        (state(text="Regen"), REFS, "text", ("it rains", tuple(REFS), "Regen")),
        (state(text=3), REFS, "text", ("it rains", tuple(REFS), None)),
        (state(None), REFS, "input", "the sample has no output of a model"),
        (SimpleNamespace(output=None), REFS, "input", "the sample has no output of a model"),
    ],
)
def test_the_texts_of_a_sample_are_found(given, target, source, row):
    assert adapter._scores(Reads(), given, target, source) == row


def test_what_is_stored_beside_scores_has_signatures_and_reasons():
    rows = RowScorer(["chrf", "rougeL", "fluency"], where={"references": "target"})
    found = adapter._scores(rows, state(""), [""], "input")
    assert adapter._explanation(found).startswith(
        "chrf needs references, and the row has none; expected it in target; rougeL needs references, and the row has"
    )
    stored = adapter._metadata(adapter._scores(rows, state(""), REFS, "input"))
    assert stored["signatures"] == {spec: str(one.signature) for spec, one in found.items()}
    assert stored["higher_is_better"] == {"chrf": True, "rougeL": True, "fluency": True}
    assert stored["flags"]["chrf"] == ["empty"]
    assert stored["parts"]["rougeL"]["recall"] == 0.0
    assert adapter._explanation(adapter._scores(RowScorer("chrf"), state(), REFS, "input")) is None


def test_without_inspect_ai_the_extra_is_named(monkeypatch):
    adapter.registered.cache_clear()
    for name in ("inspect_ai", "inspect_ai.scorer"):
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    with pytest.raises(ng.MissingExtra, match=r"^a scorer of inspect_ai needs .* pip install 'nlgauge\[inspect\]'"):
        as_inspect("chrf")


@pytest.fixture
def task():
    """A function from a scorer to a task of three samples, whose answers come from no model."""
    pytest.importorskip("inspect_ai")
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    @solver
    def told():
        async def solve(state, generate):
            state.output = ModelOutput() if state.sample_id == "c" else ModelOutput.from_content("m", "it rains")
            state.completed = True
            return state

        return solve

    samples = [Sample("q", id="a", target=REFS), Sample("q", id="b"), Sample("q", id="c", target=REFS)]
    return lambda scorer: Task(samples, solver=told(), scorer=scorer, name="weather")


def test_an_evaluation_stores_scores_that_nlgauge_reads_back(task, tmp_path):
    from inspect_ai import eval as evaluate

    (log,) = evaluate(
        task(as_inspect(["chrf:word_order=2", "ter"])),
        model="mockllm/model",
        log_dir=str(tmp_path),
        log_format="json",
        display="none",
        epochs=2,
    )
    assert (log.status, log.error) == ("success", None)
    whole = ng.score(["it rains"], [REFS], metrics=["chrf:word_order=2", "ter"])
    means = {
        one.name: (one.metrics["mean"].value, one.scored_samples, one.unscored_samples) for one in log.results.scores
    }
    assert means == {spec: (pytest.approx(own.values[0]), 1, 2) for spec, own in whole.items()}  # no 0 for the others
    assert log.eval.scorers[0].options["metrics"] == ["chrf:word_order=2", "ter"]
    stored = log.samples[0].scores["nlgauge"]
    assert stored.metadata["signatures"] == {spec: str(own.signature) for spec, own in whole.items()}
    read = {s.id.removeprefix("mockllm/model:"): s.human for s in ng.read(log.location)}
    assert read["a"] == read["a#2"] == {f"nlgauge.{spec}": pytest.approx(own.values[0]) for spec, own in whole.items()}
    assert read["b"] == read["c"] == {}


def test_a_log_is_scored_again_by_the_name_of_the_scorer(task, tmp_path):
    from inspect_ai import eval as evaluate
    from inspect_ai import score
    from inspect_ai._util.registry import registry_info
    from inspect_ai.scorer import match

    (log,) = evaluate(task(match()), model="mockllm/model", log_dir=str(tmp_path), display="none")
    scorer = as_inspect("chrf")
    # the package stands before the name where nlgauge is installed, and not in a bare checkout
    assert registry_info(scorer).name.rpartition("/")[2] == "nlgauge"
    again = score(log, scorer, display="none")
    assert again.samples[0].scores["nlgauge"].value == {
        "chrf": ng.score(["it rains"], [REFS], metrics="chrf")["chrf"].system
    }


@pytest.mark.parametrize(
    "spec", ["spice:jar=evil.jar", "scores:file=x.tsv", "bertscore:model=/tmp/own", "1*spice:jar=evil.jar"]
)
def test_a_log_names_no_program_and_no_file(spec):
    pytest.importorskip("inspect_ai")
    # `inspect score` makes the scorer of a log anew by its name and the arguments that stand in the log.
    with pytest.raises(SpecError, match="a file may name only metrics that run on what ships"):
        adapter.registered()([spec])
    adapter.registered()(["chrf", "bertscore"])
