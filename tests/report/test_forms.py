"""Nothing is lost between forms: every fact of a result stands in each of them."""

from __future__ import annotations

import csv
import html
import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.io.segments import Tally
from nlgauge.metaeval.sweep import sweep
from nlgauge.report.pages import page
from nlgauge.report.tables import latex, markdown
from nlgauge.report.text import render
from nlgauge.scoring.job import ComparisonOptions, score_source

WORDS = "rain snow wind sun cloud storm fog hail frost heat".split()
AS_SHOWN = {"text": str, "markdown": markdown, "latex": latex, "html": html.escape}


def sentences(n, seed):
    """A reference and a hypothesis that shares some of its words, n times."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        ref = [str(word) for word in rng.choice(WORDS, size=7)]
        kept = int(rng.integers(2, 8))
        yield " ".join(ref), " ".join(ref[:kept] + [str(w) for w in rng.choice(WORDS, size=7 - kept)]), kept + i % 3


class Source:
    """Segments, as `nlgauge.io.open_data` gives them."""

    def __init__(self, segments):
        self.segments = segments

    def check(self):
        tally = Tally()
        for segment in self.segments:
            tally.add(segment)
        return tally.summary([{"path": "a<b>|c.tsv", "sha256": "ab" * 32}], ["a note of | the <source>"])

    def blocks(self):
        yield self.segments

    def advice(self):
        return {}


def scored():
    segments = [
        ng.Segment(f"{name}{i}", hyp if name == "a|b" else f"{hyp} fog", (ref,), system=name, item=str(i))
        for name in ("a|b", "c_d")
        for i, (ref, hyp, _) in enumerate(sentences(12, 0))
    ]
    return score_source(Source(segments), ["chrf", "ter"], ComparisonOptions(test="randomization", draws=99)).result()


def judged():
    """Seven systems in two groups; two metrics that cannot be told apart, so that there is power."""
    rng = np.random.default_rng(1)
    segments, scores = [], {"m": [], "k_2": []}
    for group in ("en|de", "de<en"):
        for s in range(7):
            for i in range(3):
                human = s + float(rng.normal())
                segments.append(
                    ng.Segment(f"{group}{s}.{i}", "x", system=f"s{s}", item=str(i), group=group, human={"q": human})
                )
                for name, noise in (("m", 1.0), ("k_2", 2.0)):
                    scores[name].append(human + noise * float(rng.normal()))
    return ng.Dataset(tuple(segments), "d"), scores


def met():
    data, scores = judged()
    options = {"level": "system", "test": "williams", "adjust": "holm", "power": True, "draws": 99, "seed": 7}
    return ng.meta_evaluate(data, scores=scores, **options).result()


def selected():
    data, scores = judged()
    return ng.select_models(data, scores=scores, hybrids=50, pool=5, draws=50, seed=3).result()


def pairs(**about):
    return tuple(
        ng.Pair(id=f"{name}{i}", phenomenon=name, better=ref, worse=hyp, references=(f"{ref} now",), **about)
        for name, seed in (("negation", 2), ("typos", 3))
        for i, (ref, hyp, _) in enumerate(sentences(6, seed))
    )


def preferred():
    return ng.audit(ng.Suite(pairs(), "pairs"), ["chrf", "bleu"]).result()


def checked():
    return ng.audit(ng.Suite(pairs(task="mt", criterion="adequacy"), "pairs", "checklist"), ["chrf", "bleu"]).result()


def swept():
    segments = [
        ng.Segment(str(i), hyp, (ref,), item=str(i), human={"q": float(kept)})
        for i, (ref, hyp, kept) in enumerate(sentences(20, 4))
    ]
    return sweep(ng.Dataset(tuple(segments), "d"), ng.Suite(pairs(), "s"), "chrf", "ter", [0.5]).result()


@pytest.fixture(
    scope="module", params=[scored, met, selected, preferred, checked, swept], ids=lambda make: make.__name__
)
def made(request):
    return request.param.__name__, replace(request.param(), command="nlgauge a_b 'c|d'")


def number(value, digits, sign=""):
    return "" if value is None or math.isnan(value) else f"{value:{sign}.{digits}f}"


def facts_of_rows(name, rows):
    """What a reader must find of each row, whatever the form."""
    for row in rows:
        if name == "scored":
            digits = 2  # both are percentages
            yield from (row["system"], number(row["value"], digits), number(row["low"], digits), str(row["n"]))
            if row["p"] is not None:
                yield from (number(row["p"], 4), "p < 0.05 against the baseline")
        elif name == "met" and row.get("against") is None:
            yield from (row["metric"], number(row["value"], 3), number(row["low"], 3), row["criterion"], row["stat"])
            yield from ([row["group"]] if row["group"] != "mean" else [])
        elif name == "met" and row["value"] > min(r["value"] for r in rows if r["metric"] == row["against"]):
            better = next(r["value"] for r in rows if (r["metric"], r["group"]) == (row["against"], row["group"]))
            if row["value"] > better:  # a triangle shows the better metric against the other
                yield from (number(row["p_adjusted"], 3), row["test"], "p < 0.05", row["against"])
                if row.get("power") is not None:
                    yield from (f"(power {number(row['power'], 2)})", "power: the share of resamples")
        elif name == "selected":
            yield from (row["metric"], row["criterion"], number(row["value"], 3), number(row["chance"], 3))
            yield number(row["simulated"], 3)
        elif name == "preferred":
            yield from (row["metric"], row["phenomenon"], str(row["n"]), str(row["ties"]), number(row["accuracy"], 3))
        elif name == "checked":
            yield from (row["metric"], row["template"], row["criterion"], number(row["deviation"], 3, "+"))
            yield from (number(row["penalty"], 2), row["task"])
        elif name == "swept" and None not in (row["dataset"], row["suite"]) and row["metric"] != "mean":
            yield from (row["metric"], row["with"], number(row["correlation"], 3), number(row["accuracy"], 3))
            yield from (f"{row['weight']:g}", row["stat"], row["criterion"])
            if row["best"]:
                yield from (row["spec"], f"best weight {row['weight']:g}")


@pytest.mark.parametrize("form", AS_SHOWN)
def test_a_reader_finds_every_fact_in_every_form(made, form):
    name, result = made
    text = page(result) if form == "html" else render(result, form, full=True)
    text = text.replace("<wbr>", "")
    text = text if form != "html" else text.replace("&#39;", "'").replace("&#34;", '"')
    shown = AS_SHOWN[form]
    facts = dict.fromkeys(fact for fact in facts_of_rows(name, result.rows) if fact)
    plain = {line for line in text.split("\n") if line.startswith("%")} if form == "latex" else set()  # titles
    lost = [
        fact
        for fact in facts
        if shown(fact).replace("&#x27;", "'") not in text and not any(fact in line for line in plain)
    ]
    prose = str if form == "latex" else shown  # LaTeX has signatures and notes as comments
    told = [*result.notes, *(metric["spec"] for metric in result.metrics)]
    lost += [fact for fact in told if prose(fact).replace("&#x27;", "'") not in text]
    lost += [metric["signature"] for metric in result.metrics if metric["signature"] not in html.unescape(text)]
    lost += ["lower is better"] * (
        "lower is better" not in text and not all(m["higher_is_better"] for m in result.metrics)
    )
    lost += [result.command] * (form != "text" and result.command not in html.unescape(text))
    lost += [str(result.settings[key]) for key in ("draws", "seed") if _drawn(result, key) not in text]
    assert lost == []


def _drawn(result, key):
    """A setting, where notes must say it; sweeps and audits draw only what their notes name."""
    value = result.settings.get(key)
    return "" if value is None or result.kind in ("audit", "sweep") else str(value)


def test_programs_find_every_field(made):
    _, result = made
    assert json.loads(render(result, "json")) == json.loads(json.dumps(result.as_json()))
    assert json.loads(render(result, "json"))["command"] == result.command
    for form, separator in (("csv", ","), ("tsv", "\t")):
        header, *lines = csv.reader(io.StringIO(render(result, form)), delimiter=separator)
        assert len(lines) == len(result.rows)
        signatures = {metric["spec"]: metric["signature"] for metric in result.metrics}
        for line, row in zip(lines, result.rows, strict=True):
            cells = dict(zip(header, line, strict=True))
            for name, value in row.items():
                absent = value is None or (isinstance(value, float) and math.isnan(value))
                assert cells[name] == ("" if absent else repr(value) if isinstance(value, float) else str(value))
            assert cells["signature"] == signatures.get(row["metric"], "")
        settings = {name for name, value in result.settings.items() if value is not None}
        assert settings <= set(header)


def test_the_same_result_is_the_same_bytes(made):
    _, result = made
    for form in ("json", "csv", "latex"):
        assert render(result, form) == render(result, form)
    assert page(result) == page(result)
