"""Metrics that are not included: an unknown name of theirs is answered by how to bring their scores."""

import os
import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import Metric, signature_of, spec_of
from nlgauge.core.scores import TASKS, MetricInfo, join
from nlgauge.metrics.embedding import vectors
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.metrics.embedding.vectors import best_layer
from nlgauge.metrics.registry import (
    ELSEWHERE,
    LANGUAGES,
    METRICS,
    SUMS,
    catalogue_row,
    defaults,
    elsewhere,
    embedded_metrics,
    encoder_for,
    expanded,
    folded,
    is_encoder_for,
    is_placed,
    list_metrics,
    metric,
    metric_info,
    named,
    not_included,
    on_encoder,
    runs_with,
)
from nlgauge.metrics.run import score_segments
from nlgauge.models import heads, locate
from nlgauge.perturbations.checklist import TASKS as CHECKLISTS
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing.metric import SEGMENTS, Examined


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("wmt22_cometkiwi_da", "COMET-Kiwi"),
        ("Bleurt_20", "BLEURT-20"),
        ("Comet_Kiwi", "COMET-Kiwi"),
        ("cometkiwi", "COMET-Kiwi"),
    ],
)
def test_names_are_known_in_any_spelling(typed, name):
    assert elsewhere(typed) == name


def test_a_metric_of_the_field_is_answered_by_how_to_bring_its_scores():
    with pytest.raises(SpecError) as caught:
        ng.metric("uni-eval")
    assert str(caught.value) == (
        "unknown metric 'uni-eval'; UniEval is not included: compute it with its own program, write a table with the"
        ' columns id and uni-eval, and take scores:file="theirs.tsv",column=uni-eval as the metric'
    )
    ng.metric('scores:file="theirs.tsv",column=uni-eval')  # what the message says is a specification


def test_other_unknown_names_get_the_nearest():
    assert not_included("blue") == ""
    with pytest.raises(SpecError, match="did you mean 'bleu'"):
        ng.metric("blue")


def test_no_name_is_there_twice_and_none_is_a_metric_of_ours():
    """A metric that is added to the package loses its row in the table."""
    names = [folded(name) for usual, others in ELSEWHERE.items() for name in (usual, *others)]
    assert len(names) == len(set(names))
    assert not set(names) & {folded(name) for name in METRICS.entries}


# --- The encoders of languages are those of bert_score, and presets by language name them


@pytest.mark.parametrize("language", [*LANGUAGES, "ja", "no such language"])
def test_encoders_and_layers_are_those_of_bert_score(language):
    theirs = pytest.importorskip("bert_score.utils")
    name = theirs.lang2model[language]
    assert encoder_for(language) == (name, theirs.model2layers[name])
    assert best_layer(name, 48) == theirs.model2layers[name]  # deeper than any of them


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_preset_by_language_names_its_encoder(language):
    model, layer = encoder_for(language)
    built = ng.metric(f"paper/bertscore-{language}")
    assert built == BertScore(model=model, layer=layer, language=language)


def test_presets_rescale_by_the_baseline_of_their_language():
    metric = ng.metric("paper/bertscore-de:rescale=true")
    assert vectors.find(metric.baseline, metric.model, metric.language).identity == "de/bert-base-multilingual-cased"
    metric = ng.metric("paper/bertscore-ru:rescale=true")  # none is bundled: not that of English
    with pytest.raises(ng.InputError, match=r"no baseline .* language 'ru'; bundled for it: cs, de"):
        vectors.find(metric.baseline, metric.model, metric.language)


def test_a_language_is_refused_where_neither_the_baseline_nor_the_encoder_is_of_it():
    with pytest.raises(SpecError, match="language=de chooses the bundled baseline and changes nothing here"):
        BertScore(model="roberta-large", language="de")
    assert is_encoder_for("/models/bert-base-multilingual-cased", "de")
    assert is_encoder_for("dbmdz/bert-base-turkish-cased", "tr")
    assert not is_encoder_for("roberta-large", "de")
    assert not is_encoder_for("embedded", "en")


def test_a_language_alone_is_not_in_the_signature(tiny_model, tmp_path):
    folder = tmp_path / "bert-base-multilingual-cased"
    folder.symlink_to(tiny_model("bert"))
    plain, named = (BertScore(model=str(folder), layer=1, **options) for options in ({}, {"language": "de"}))
    assert str(signature_of(plain, ng.Runtime())) == str(signature_of(named, ng.Runtime()))


WITHOUT_MODEL = [
    name for name, entry in METRICS.entries.items() if ".lexical." in entry.target and not catalogue_row(name)["lacks"]
]


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
        *[
            (n, rf"^unknown metric '{n}'; 'nlgauge list metrics' has all names")
            for n in ("trigram", "includes", "evaluate")
        ],
        ("sacrebleu", r"^unknown metric 'sacrebleu'; here it is 'bleu' or 'chrf' or 'ter'$"),
        ("F1", r"^unknown metric 'F1'; here it is 'token_f1'$"),
        ("bert_score", r"^unknown metric 'bert_score'; here it is 'bertscore'$"),
        ("chrff", r"^unknown metric 'chrff'; did you mean 'chrf' or 'chrf\+\+'\?$"),
        ("jaccard", r"^unknown metric 'jaccard'; 'nlgauge list metrics' has all names; .* is MODULE:jaccard after -m"),
        ("human.q", r"^unknown metric 'human.q'; ratings take no name of their own and are no term of a sum"),
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
        ("ruber:model=mine", "ruber:model=mine,encoder=base"),
        ("qmetric:delta=0.5,base=bertscore", "qmetric:delta=0.5,base=bertscore:model=base"),
        ('qmetric:base="0.5*nli + 0.5*chrf"', 'qmetric:base="0.5*nli:model=nli-base + 0.5*chrf"'),
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


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("cosine", "cosine:model=multilingual"),
        ("0.2*nli + 0.8*chrf", "0.2*nli:model=nli-multi + 0.8*chrf"),
        ("bertscore:lang=en", "bertscore:lang=en,model=multilingual"),
        # other heads stay with the encoder that they were made for, and a language names its encoder
        ("rated", "rated"),
        ("gauge", "gauge"),
        ("bertscore:lang=de", "bertscore:lang=de"),
        ("bertscore:language=de", "bertscore:language=de"),
    ],
)
def test_only_what_compares_vectors_has_an_encoder_of_many_languages(typed, meant):
    assert on_encoder(typed, "multilingual") == meant
    ng.metric(meant)  # and can be made
    assert is_placed(typed) is (typed != meant)


def test_texts_choose_the_encoder_auto_before_a_metric_is_made():
    said = r"^cosine:layer=2: the encoder auto is chosen by texts that are looked at first, and here none are; name"
    with pytest.raises(SpecError, match=said):
        named(["chrf", "cosine:layer=2"], "auto")
    assert list(named(["chrf", "rated", "bertscore:lang=de"], "auto")) == ["chrf", "rated", "bertscore:lang=de"]
    assert not is_placed("no such metric")


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


NO_PAPER = {"regressor", "scores", "command", "external"}  # what they compute is the reader's own


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
    and not metric(name).pooled  # whose scores depend on their company by definition
]
SLOW = bool(os.environ.get("NLGAUGE_SLOW"))
SHORT = [s for s in SEGMENTS if len(s.hypothesis) < 80][:12]
SHORT = SHORT if SLOW else SHORT[::3]  # by day one of three


def test_scores_do_not_move_with_batches_company_order_or_cache(tmp_path, rounding):
    metrics, runtime = {name: metric(name) for name in WITH_EMBEDDED_MODELS}, Runtime(device="cpu")
    order = np.random.default_rng(0).permutation(len(SHORT))
    kept = replace(runtime, cache=str(tmp_path / "scores.sqlite"))
    base = score_segments(metrics, SHORT, runtime)  # in one call, in which metrics of one encoder share its vectors
    alone = [score_segments(metrics, [s], runtime) for s in SHORT]
    backwards = score_segments(metrics, SHORT[::-1], replace(runtime, token_budget=300))
    score_segments(metrics, SHORT[::2], kept)
    found = score_segments(metrics, [SHORT[i] for i in order], kept)
    kept.cache.close()
    for name, built in metrics.items():
        subject = Examined(built, SHORT, runtime, rounding(name))
        subject.same(base[name], join([one[name] for one in alone]), "scoring each segment alone")
        turned = backwards[name].take(np.arange(len(SHORT))[::-1])
        subject.same(base[name], turned, "another order and a token budget of 300")
        subject.same(base[name], found[name].take(np.argsort(order)), "another order, half of it from the cache")


def test_the_metrics_with_an_embedded_model_are_found():
    assert {"bertscore", "cosine", "nli", "nli-robust", "summac", "sescore"} <= set(WITH_EMBEDDED_MODELS)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ter", "no model"),
        ("bertscore", "the embedded models"),
        ("nli-robust", "the embedded models"),
        ("gauge", "the embedded models"),
        ("paper/bertscore", "roberta-large of the hub"),
        ("regressor", "a model of yours"),
        ("scores", "a file of yours"),
        ("command", "a program of yours"),
        ("meteor15", "a jar of yours"),
        ("spice", "a jar of yours"),
        ("bleurt", "Elron/bleurt-large-512 of the hub"),
        (
            "paper/menli-r",
            "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli of the hub, roberta-large of the hub",
        ),
    ],
)
def test_what_a_metric_runs_with(name, told):
    assert runs_with(name) == told


def test_embedded_metrics_need_nothing_and_stand_once():
    found = embedded_metrics()
    assert {"bleu", "chrf++", "bertscore", "nli", "rated"} <= {*found}
    assert not {"bleu4", "prism", "paper/bertscore", "scores", "spice", "sentinel"} & {*found}  # bleu4 is bleu
    describing = {name for name, about in list_metrics().items() if not about.judges}
    assert describing == {"sentinel", "length_ratio", "distinct", "self_bleu", "compression", "readability"}
    assert not describing & {*found}
    assert {list_metrics()[name].direction for name in describing} == {"neither end is better"}


def test_embedded_stands_for_its_metrics_where_it_is_named(monkeypatch):
    monkeypatch.setattr("nlgauge.metrics.registry.embedded_metrics", lambda: ["bleu", "chrf", "ter"])
    assert expanded(["wer", "embedded", "chrf"]) == (["wer", "bleu", "ter", "chrf"], {"bleu", "ter"})
    assert expanded("embedded") == (["bleu", "chrf", "ter"], {"bleu", "chrf", "ter"})
    assert expanded(metric("chrf")) == ([metric("chrf")], frozenset())


@pytest.mark.parametrize("spec", ["embedded", "embedded:layer=1", "0.5*embedded + 0.5*bleu"])
def test_many_metrics_are_no_metric(spec):
    with pytest.raises(SpecError, match="'embedded' stands for many metrics"):
        metric(spec)


def test_a_row_says_what_is_downloaded_and_what_lacks():
    row = catalogue_row("paper/nli-d-src")
    assert row["downloads"] == ["microsoft/deberta-large-mnli"]
    assert (row["low"], row["high"], row["needs"]) == (-1, 0, ["source"])
    assert not row["runs_embedded"]
    assert catalogue_row("ter")["high"] is None  # no bound
    assert catalogue_row("meteor15")["lacks"] == ["jar"]
    assert catalogue_row("bertscore")["runs_embedded"]
    with pytest.raises(SpecError, match="did you mean 'bleu'"):
        catalogue_row("blue")


@pytest.mark.parametrize("name", [name for name, entry in METRICS.entries.items() if entry.preset])
def test_a_preset_is_what_it_is_said_to_stand_for(name):
    spec = catalogue_row(name)["preset_of"]
    assert spec.partition(":")[0] in METRICS.entries
    if not catalogue_row(name)["lacks"]:
        assert metric(spec) == metric(name)
    assert defaults(name).keys() == defaults(spec.partition(":")[0]).keys()
