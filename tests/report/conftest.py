"""One small result of each kind, made by hand, about the same metric."""

import importlib.util
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nlgauge.core.marks import Alignment
from nlgauge.core.result import Result
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.spec import Signature
from nlgauge.core.suite import ScoredPair
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.metaeval.sweep import curves, mark_best, with_gains
from nlgauge.report.bundle import bundle_html, segments_of
from nlgauge.report.kinds.synth import ladders_html
from nlgauge.report.pages import page

INPUTS = [{"path": "/home/ann/texts.jsonl", "sha256": "ab" * 32}]
METRIC = {"spec": "chrf", "signature": "metric:chrf|nlgauge:1", "higher_is_better": True, "flags": {"empty": 2}}


def results(metric=METRIC, system="one"):
    """Kind -> a result; names may be hostile."""
    spec = metric["spec"]
    ends = {"low": 0.25, "high": 0.75}
    scored = {"metric": spec, "value": 31.25, "low": 30.0, "high": 32.5, "n": 7, "n_undefined": 1}
    study = {"metric": spec, "criterion": "adequacy", "level": "item", "averaging": "item", "stat": "kendall_b"}
    made = {"texts": 2, "edits": 4, "share": 1.0, "severity": -1.5, "major": 0.25, "score": -3.0}
    chosen = {"pool": 9, "n_tied": 0, "simulated": None, "draws": None}
    known = {"n_used": 12, "n_undefined": 0, "ties": None, "chance": 0.0, "raw": 0.5}
    wins = {"metric": spec, "expect": "lower", "n": 8, "ties": 0, "n_undefined": 0, "group": None}
    drop = {"metric": spec, "task": "mt", "criterion": "fluency", "expect": "lower", "n": 9, "n_not_applicable": 0}
    drop |= {"n_undefined": 0, "certainty": "high", "method": "m", "norm": "self", "invariant": None, "within": None}
    alignment = Alignment(
        ("a", system), ("b",), np.array([[0.5], [0.25]]), np.array([0.5, 0.5]), np.array([1.0]), 0.5, 0.5, math.nan,
        Signature("bertscore", (("metric", "bertscore"), ("layer", "4"))),
    )  # fmt: skip
    return {
        "score": Result("score", [{"system": system, **scored}], INPUTS, [metric], [f"a note about {system}"]),
        "meta": Result(
            "meta",
            [{**study, **known, "group": g, "value": 0.5, **ends} for g in ("weather", "mean")],
            INPUTS,
            [metric],
        ),
        "preference": Result(
            "audit",
            [
                {**wins, "phenomenon": "negation", "accuracy": 0.25, "wins": 2, "losses": 6, "low": 0.1, "high": 0.6},
                {**wins, "phenomenon": "typos", "accuracy": 0.5, "wins": 4, "losses": 4, "low": 0.2, "high": 0.8},
                {**wins, "phenomenon": "mean-all", "accuracy": math.nan, "wins": 6, "losses": 10, **ends},
            ],
            [{"path": "other.jsonl", "sha256": "cd" * 32}],
            [metric],
        ),
        "checklist": Result(
            "audit",
            [
                {
                    **drop,
                    "template": "jumble",
                    "drop": 0.1,
                    "penalty": 0.9,
                    "deviation": -0.8,
                    "low": -0.9,
                    "high": -0.7,
                },
                {**drop, "template": "typos", "drop": 0.2, "penalty": 0.1, "deviation": 0.1, "low": -0.1, "high": 0.3},
            ],
            INPUTS,
            [metric],
        ),
        "select": Result(
            "select", [{**study, **known, "group": "mean", "value": 0.5, **ends, **chosen}], INPUTS, [metric]
        ),
        "align": alignment.result(),
        "synth": Result(
            "synth",
            [{"operation": name, **made} for name in ("insert", "all")],
            INPUTS,
            [{**metric, "spec": "synthesis"}],
        ),
    }


def sweep(metric, name):
    """A sweep over three weights."""
    study = {"stat": "pearson", "criterion": "q", "level": "segment", "averaging": "none", "group": "mean"}
    about = {"metric": metric["spec"], "with": name, "partner": "nli", "dataset": name, "suite": "s"}
    rows = [
        {**study, **about, "phenomenon": "mean-all", "weight": weight, "spec": f"{weight}"}
        | {"correlation": value, "low": value - 0.1, "high": value + 0.1}
        | {"accuracy": 0.5, "accuracy_low": 0.4, "accuracy_high": 0.6}
        for weight, value in ((0.0, 0.5), (0.5, 0.6), (1.0, 0.3))
    ]
    with_gains(rows)
    mark_best(rows)
    return Result("sweep", [*rows, *curves(rows)], INPUTS, [metric], ["a note"])


def of_people(metric, system, text="Snow falls.", criterion="adequacy"):
    """What a result of `meta` says of people: three systems, two raters, a metric and a control; names may be hostile.

    People put `system` first, then `two` and `three`, which they do not tell apart; the metric puts `two` first.
    """
    spec, about = metric["spec"], {"criterion": criterion, "group": None}
    human = {**about, "metric": f"human.{criterion}", "n": 12, "n_raters": 2}
    other = {**about, "metric": spec}
    rated = {**about, "rater": None, "against": None, "n": 30, "n_ratings": 60, "n_raters": 2, "scale": "ordinal"}
    unknown = dict.fromkeys(("mean", "deviation", "alpha", "low", "high", "pearson", "same", "kappa"))
    task = {"criterion": criterion, "level": "item", "stat": "kendall_b", "left_out": "one", "n_splits": 2, "n": 30.0}
    return {
        "people": [
            {**human, "system": system, "value": 4.5, "low": 4.0, "high": 5.0, "rank": 1, "items_needed": None},
            {**human, "system": "two", "value": 3.5, "low": 3.0, "high": 4.0, "rank": 2, "items_needed": 700},
            {**human, "system": "three", "value": 3.25, "low": 2.75, "high": 3.75, "rank": 2, "items_needed": None},
            {**other, "system": system, "value": 31.0, "rank": 2, "exchanged": ["two"]},
            {**other, "system": "two", "value": 33.0, "rank": 1, "exchanged": []},
            {**other, "system": "three", "value": 30.0, "rank": 3, "exchanged": []},
        ],
        "raters": [
            {**rated, **unknown, "alpha": 0.412, "low": 0.3, "high": 0.5},
            {**rated, **unknown, "rater": text, "against": "rest", "mean": 3.0, "alpha": 0.4, "pearson": 0.5},
            {**rated, **unknown, "rater": "bob", "against": "rest", "mean": 4.0, "alpha": 0.4, "pearson": 0.25},
            {**rated, **unknown, "rater": text, "against": "bob", "alpha": 0.4, "same": 0.75, "kappa": 0.125},
        ],
        "ceiling": [
            {**task, "group": group, "metric": name, "value": value, "low": value - 0.1, "high": value + 0.1, **more}
            for group in (None, "mean")
            for name, value, more in (
                ("people", 0.5, {}),
                ("sentinel", 0.0, {"control": True, "passed": False}),
                (spec, 0.625, {"passed": True}),
            )
        ],
        "disagreements": [
            {"id": system, "criterion": criterion, "metric": spec, "rank": 1.5, "human_rank": 30.0, "n": 30}
            | {"hyp": text, "ref": text}
        ],
    }


def every_page(text="Snow falls.", metric=METRIC, name="one"):
    """What is shown -> a page that `--html` of a verb writes, and a report of all; with names and texts as given."""
    kinds = {**results(metric, name), "sweep": sweep(metric, name)}
    kinds["people"] = replace(kinds["meta"], **of_people(metric, name, text, name))
    case = {"phenomenon": name, "id": name, "margin": 0.25, "reference": None, "better": "It rains.", "worse": text}
    worst = {metric["spec"]: [{**case, "score_better": 0.25, "score_worse": 0.5}]}
    step = {"operation": "insert", "start": 0, "end": 0, "new": text, "text": text + "words", "severity": -1}
    keys = tuple(Key(f"{system}:1", system, "1", system) for system in (name, "two"))
    rows = ScoreTable(keys, {metric["spec"]: np.arange(2.0)}, "segment", "rows.tsv", (), {})
    texts = [Segment(key.id, text, (text, "It rains."), text, key.system, "1") for key in keys]
    failed = ScoredPair(f"{name}:1/x", name, "It rains.", text, {metric["spec"]: (0.25, 0.5, 0.0)})
    segments = replace(segments_of([rows], [Dataset(tuple(texts), "d")]), pairs=[failed])
    made = {kind: page(one, worst if kind == "preference" else None) for kind, one in kinds.items()}
    made["ladder"] = ladders_html([{"id": name, "refs": ["words"], "steps": [step], "score": -1.0}], name, [name])
    made["report"] = bundle_html({f"{kind}.json": one for kind, one in kinds.items()}, name, segments)
    return made


@pytest.fixture
def pages():
    """Every page by name; a function, for hostile texts."""
    return every_page


@pytest.fixture
def made():
    """The results by kind; a function, for other names."""
    return results


@pytest.fixture
def people():
    """A result of `meta` that says what people say; a function, for other metrics and names."""

    def make(metric=METRIC, system="one", text="ann"):
        return replace(results(metric, system)["meta"], **of_people(metric, system, text))

    return make


@pytest.fixture
def swept():
    """The result of a sweep."""
    return sweep(METRIC, "one")


_spec = importlib.util.spec_from_file_location("chromium", Path(__file__).with_name("chromium.py"))
driver = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(driver)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A browser; tests that need it are skipped where there is none."""
    if driver.PATH is None:
        pytest.skip("needs Chromium")
    browser = driver.Chromium(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()
