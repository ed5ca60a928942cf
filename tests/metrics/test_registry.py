from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import spec_of
from nlgauge.core.scores import TASKS, MetricInfo, join
from nlgauge.metrics.base import Metric, is_pooled
from nlgauge.metrics.registry import METRICS, SUMS, list_metrics, metric, metric_info, named, on_encoder
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.models import heads, locate
from nlgauge.perturbations.checklist import TASKS as CHECKLISTS
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing.segments import SEGMENTS
from nlgauge.testing.subject import Subject

WITHOUT_MODEL = [name for name, entry in METRICS.entries.items() if ".lexical." in entry.target]


@dataclass(frozen=True)
class Needy:
    info: ClassVar = MetricInfo("needy", needs={"references", "source", "context", "table"})

    def score(self, segments, runtime):
        raise NotImplementedError


def test_every_name_leads_to_a_metric_that_bears_it_or_a_preset():
    for name in WITHOUT_MODEL:
        built = metric(name)
        assert isinstance(built, Metric), name
        assert metric(spec_of(built)) == built  # a preset is written out, and means the same


def test_a_preset_is_the_metric_with_its_options_set():
    assert metric("chrf++") == metric("chrf:word_order=2")
    assert metric("chrf++:word_order=0") == metric("chrf")


def test_a_metric_object_is_returned_as_it_is():
    built = metric("bleu")
    assert metric(built) is built


def test_a_sum_is_a_metric():
    assert metric("0.5*bleu + 0.5*chrf").info.name == "combination"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("menli", r"^unknown metric 'menli'; as in its paper it is paper/menli-r or paper/menli-d$"),
        ("blue", r"^unknown metric 'blue'; did you mean 'bleu'( or 'bleu\d')*\?$"),
        ("jaccard", r"^unknown metric 'jaccard'; 'nlgauge list metrics' has all names; .* is MODULE:jaccard after -m"),
        ("mine.count", r"^unknown metric 'mine.count'; a metric of your own is mine:count after -m, and in Python the"),
        ("mine:count", r"^unknown metric 'mine:count': .*; in Python import count from mine, and give it in the place"),
        ("bleu:tokenise=13a", r"^bleu has no option 'tokenise'; did you mean 'tokenize'"),
        (Needy, r"^expected a metric specification or a metric object, got the class Needy$"),
        (3, r"^expected a metric specification or a metric object, got int$"),
        (None, r"^expected a metric specification or a metric object, got NoneType$"),
    ],
)
def test_what_is_no_metric_is_refused(wrong, message):
    with pytest.raises(SpecError, match=message):
        metric(wrong)


def test_a_metric_of_a_third_party_is_reached_by_its_entry_point(monkeypatch):
    class Point:
        name = "needy"

        def load(self):
            return Needy

    monkeypatch.setattr(
        "nlgauge.core.options.metadata.entry_points", lambda group: [Point()] if group == "nlgauge.metrics" else []
    )
    assert ng.metric("needy") == Needy()
    assert METRICS.names()[-1] == "needy"


def test_a_metric_object_goes_by_the_specification_that_rebuilds_it():
    assert list(named([metric("chrf++"), "chrf++"])) == ["chrf:word_order=2", "chrf++"]


@pytest.mark.parametrize("metrics", [[], ["bleu", "bleu"], [Needy(), Needy()]])
def test_no_metric_and_one_metric_twice_are_refused(metrics):
    with pytest.raises(SpecError, match=r"^no metric is named|^metric '(bleu|needy)' is named twice$"):
        named(metrics)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("bertscore", "bertscore:model=base"),
        ("bertscore:idf=true", "bertscore:idf=true,model=base"),
        ("nli", "nli:model=nli-base"),
        ("nli-robust:formula=e-c", "nli-robust:formula=e-c,model=nli-robust-base"),
        ("summac", "summac:model=nli-base"),
        ("faithful", "faithful:model=nli-robust-base"),
        ("0.5*cosine + 0.5*chrf[norm=none]", "0.5*cosine:model=base + 0.5*chrf[norm=none]"),
        ("2*(1*cosine + 1*bleu) + 1*nli", "2*(1*cosine:model=base + 1*bleu) + 1*nli:model=nli-base"),
        ("guarded(cosine):guards=copy", "guarded(cosine:model=base):guards=copy"),
        ("ruber:model=mine", "ruber:model=mine,encoder=base"),
        ("qmetric:delta=0.5,base=bertscore", "qmetric:delta=0.5,base=bertscore:model=base"),
        ('qmetric:base="guarded(0.5*nli + 0.5*chrf)"', 'qmetric:base="guarded(0.5*nli:model=nli-base + 0.5*chrf)"'),
        # what names a model, has none on that encoder, or reads static vectors stays as it is
        ("bertscore:model=embedded", "bertscore:model=embedded"),
        ("paper/bertscore", "paper/bertscore"),
        ("paper/menli-r", "paper/menli-r"),
        ("rated", "rated:model=rated-base"),
        ("sescore", "sescore:model=sescore-base"),
        ("greedy:vectors=glove.txt", "greedy:vectors=glove.txt"),
        ("chrf", "chrf"),
        ("qmetric:base=chrf", "qmetric:base=chrf"),
        ("qbleu1", "qbleu1"),
        ("qmetric:base=bertscore:model=embedded", "qmetric:base=bertscore:model=embedded"),
    ],
)
def test_an_encoder_is_that_of_metrics_that_name_no_model(typed, meant):
    assert on_encoder(typed, "base") == meant
    assert on_encoder(meant, "base") == meant
    assert on_encoder(typed, "embedded") == typed
    assert on_encoder(typed, None) == typed


def test_a_metric_goes_by_what_was_typed_whatever_the_encoder():
    (name, built), (other, told) = named(["cosine", metric("cosine:layer=2")], "base").items()
    assert (name, built.model) == ("cosine", "base")
    assert (other, told.model) == ("cosine:layer=2", "embedded")  # an object has its model


def test_options_may_be_given_in_python_values():
    assert metric("bertscore", layer=5, idf=True) == metric("bertscore:layer=5,idf=true")
    assert metric("bertscore:layer=4", layer=5) == metric("bertscore:layer=5")
    assert metric("chrf", word_order="2") == metric("chrf:word_order=2")
    with pytest.raises(SpecError, match=r"^chrf has no option 'word_ordr'; did you mean 'word_order' or 'char_order'"):
        metric("chrf", word_ordr=2)
    with pytest.raises(SpecError, match=r"^options are given beside the sum '0.5"):
        metric("0.5*bleu + 0.5*chrf", word_order=2)
    with pytest.raises(SpecError, match=r"^options are given beside a metric object; make the object with them$"):
        metric(metric("chrf"), word_order=2)


def test_every_metric_is_listed_with_what_it_needs():
    listed = list_metrics()
    assert listed["ter"].higher_is_better is False
    assert listed["chrf"].needs == {"references"}
    assert listed["scores"].name == "scores"  # its option has no default
    assert {*METRICS.names(), *SUMS} == set(listed)


NO_PAPER = {"regressor", "scores", "external"}  # what they compute is the reader's own


def test_a_metric_declares_what_the_list_says_of_it():
    add = "add it to its MetricInfo"
    for name in (*METRICS.names(), *SUMS):
        about = metric_info(name)
        assert about.summary, f"{name} has no summary; {add}: what it measures, in one line"
        assert about.tasks, f"{name} names no tasks; {add}: tasks={{'mt', ...}} or TASKS, from nlgauge.core.scores"
        if name not in NO_PAPER:
            cited = re.fullmatch(r'[^,;]+ \(\d{4}\), ".+"', about.paper.partition("; ")[0])
            assert cited, f"{name} has the paper {about.paper!r}; {add}: paper='Lin (2004), \"Title\"'"


def test_tasks_are_those_of_the_checklists():
    assert CHECKLISTS.keys() == TASKS
    with pytest.raises(InputError, match="toy: unknown task 'translation', expected one of as, d2t, dg, ic, mt, qg"):
        MetricInfo("toy", tasks={"mt", "translation"})


WITH_EMBEDDED_MODELS = [
    name
    for name, (kind, fixed) in ((name, METRICS.lookup(name)) for name in METRICS.names())
    if fixed.get("model", getattr(kind, "model", None)) in {locate.NAME, *heads.SHIPPED}
    and not is_pooled(metric(name))  # whose scores depend on their company by definition
]
SLOW = bool(os.environ.get("NLGAUGE_SLOW"))
SHORT = [s for s in SEGMENTS if len(s.hypothesis) < 80][:12]
SHORT = SHORT if SLOW else [s for i, s in enumerate(SHORT) if i % 3]  # by day two of three


@pytest.fixture(scope="module")
def one_runtime():
    return Runtime(device="cpu")


@pytest.mark.parametrize("name", WITH_EMBEDDED_MODELS)
def test_scores_do_not_move_with_batches_company_order_or_cache(name, one_runtime, tmp_path, rounding):
    subject = Subject(metric(name), SHORT, one_runtime, rounding(name))
    subject.same(subject.base, join([subject.score([s]) for s in SHORT]), "scoring each segment alone")
    backwards = subject.score(SHORT[::-1], replace(one_runtime, token_budget=300))
    subject.same(subject.base, backwards.take(np.arange(len(SHORT))[::-1]), "another order and a token budget of 300")
    order = np.random.default_rng(0).permutation(len(SHORT))
    kept = replace(one_runtime, cache=str(tmp_path / "scores.sqlite"))
    score_segments({"metric": subject.metric}, SHORT[::2], kept)
    found = score_segments({"metric": subject.metric}, [SHORT[i] for i in order], kept)["metric"]
    kept.cache.close()
    subject.same(subject.base, found.take(np.argsort(order)), "another order, half of it from the cache")


def test_the_metrics_with_an_embedded_model_are_found():
    assert {"bertscore", "cosine", "nli", "nli-robust", "summac", "sescore"} <= set(WITH_EMBEDDED_MODELS)
