"""Which metrics there are, how a specification becomes one, and which of other programs are not included."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import cache, wraps
from pathlib import PurePath
from typing import Any, ParamSpec, TypeVar, cast, overload

from nlgauge.core.errors import InputError, SpecError, each, nearest
from nlgauge.core.metric import BaseMetric, Metric, MetricLike, options_of, show, signature_of, whole
from nlgauge.core.options import Entry, Registry, fields_of, may_be
from nlgauge.core.scores import MetricInfo
from nlgauge.core.spec import Spec, Sum, parse, quote, split
from nlgauge.metrics.function import RATINGS, Function, Plain, RatingColumn, predicts
from nlgauge.metrics.wrapped import Combination
from nlgauge.models import fetch, heads, locate
from nlgauge.runtime.runtime import AUTO
from nlgauge.text.scripts import ENGLISH

# --- Metrics that people ask for and that are not included: one that is added to the package loses its row

ELSEWHERE: Mapping[str, tuple[str, ...]] = {  # usual name -> other names; in all of them higher is better
    "BLEURT-20": ("bleurt20d12",),
    "COMET-Kiwi": ("kiwi", "wmt22-cometkiwi-da", "wmt23-cometkiwi-da-xl"),
    "G-Eval": ("gpteval", "llm-judge"),
    "GEMBA": ("gemba-da", "gemba-mqm"),
    "GRUEN": (),
    "MAUVE": (),
    "UniEval": (),
    "xCOMET": ("xcomet-xl", "xcomet-xxl"),
    "XMoverScore": (),
}


def elsewhere(name: str) -> str | None:
    """The usual name of one of these metrics, which may be typed in any spelling; None of any other name."""
    return _rows().get(folded(name))


def not_included(name: str) -> str:
    """The end of the error about an unknown metric, if it is one of these: how to bring its scores; else nothing."""
    known_as = elsewhere(name)
    if known_as is None:
        return ""
    spec = f'scores:file="theirs.tsv",column={quote(name)}'
    return (
        f"; {known_as} is not included: compute it with its own program, write a table with the columns id and {name},"
        f" and take {spec} as the metric"
    )


def folded(name: str) -> str:
    """A name without case, blanks and marks."""
    return "".join(char for char in name.lower() if char.isalnum())


@cache
def _rows() -> dict[str, str]:
    return {folded(name): usual for usual, others in ELSEWHERE.items() for name in (usual, *others)}


# --- Which encoder BERTScore takes for a language, as its authors' package does

MULTILINGUAL = ("bert-base-multilingual-cased", 9)
OF_ITS_OWN = {
    "en": ("roberta-large", 17),
    "en-sci": ("allenai/scibert_scivocab_uncased", 8),
    "tr": ("dbmdz/bert-base-turkish-cased", 10),
    "zh": ("bert-base-chinese", 8),
}
# The languages of the presets: those above, those with a bundled baseline for the multilingual encoder, and Russian,
# which the paper has too. Every other language takes the multilingual encoder as well.
LANGUAGES = (*OF_ITS_OWN, "cs", "de", "es", "et", "fi", "fr", "it", "lv", "pt", "ru")


def encoder_for(language: str) -> tuple[str, int]:
    """The hub id of the encoder for texts of a language, and the layer that is matched.

    Args:
        language: a code as in bert_score, such as `de`, or `en-sci` for scientific English.

    References:
        bert_score 0.3.13, `lang2model` and `model2layers`.
    """
    return OF_ITS_OWN.get(language, MULTILINGUAL)


def is_english(language: str) -> bool:
    """Whether a code, such as `en`, `en-sci` or `eng_Latn`, is of English."""
    return re.split("[-_]", language.lower())[0] in (ENGLISH, "eng")


def is_encoder_for(model: str, language: str) -> bool:
    """Whether a model, by its hub id or in a folder of that name, is the encoder for a language."""
    name, given = encoder_for(language)[0], model.partition("@")[0]
    return name in (given, PurePath(given).name)


# --- Which metrics there are, and how a specification becomes one

Given = ParamSpec("Given")
R = TypeVar("R")


def _at(target: str, **options: Any) -> Entry:
    """Where a name leads: `module:Class` inside `nlgauge.metrics`, and the options that the name sets."""
    return Entry(f"nlgauge.metrics.{target}", options)


# One line per name. A new metric needs a class and a line in the table of its family.
_LEXICAL = {
    "bleu": _at("lexical.sacrebleu:Bleu"),
    "bleu1": _at("lexical.sacrebleu:Bleu", max_ngram_order=1),
    "bleu2": _at("lexical.sacrebleu:Bleu", max_ngram_order=2),
    "bleu3": _at("lexical.sacrebleu:Bleu", max_ngram_order=3),
    "bleu4": _at("lexical.sacrebleu:Bleu", max_ngram_order=4),
    "chrf": _at("lexical.sacrebleu:ChrF"),
    "chrf++": _at("lexical.sacrebleu:ChrF", word_order=2),
    "wordf": _at("lexical.sacrebleu:ChrF", char_order=0, word_order=4),
    "wordf1": _at("lexical.sacrebleu:ChrF", char_order=0, word_order=4, beta=1),
    "wordf2": _at("lexical.sacrebleu:ChrF", char_order=0, word_order=4, beta=2),
    "wordf3": _at("lexical.sacrebleu:ChrF", char_order=0, word_order=4, beta=3),
    "gleu": _at("lexical.ngrams:Gleu"),
    "nist": _at("lexical.ngrams:Nist"),
    "ribes": _at("lexical.ribes:Ribes"),
    "meteor": _at("lexical.meteor:Meteor"),
    "qmetric": _at("lexical.qmetric:QMetric"),
    "qbleu1": _at("lexical.qmetric:QMetric", base="bleu1"),
    "qbleu2": _at("lexical.qmetric:QMetric", base="bleu2"),
    "qbleu3": _at("lexical.qmetric:QMetric", base="bleu3"),
    "qbleu4": _at("lexical.qmetric:QMetric", base="bleu4"),
    "qrouge": _at("lexical.qmetric:QMetric", base="rougeL"),
    "qnist": _at("lexical.qmetric:QMetric", base="nist"),
    "qmeteor": _at("lexical.qmetric:QMetric", base="meteor"),
    "parent": _at("lexical.parent:Parent"),
    "cider": _at("lexical.ngrams:Cider"),
    "cider-d": _at("lexical.ngrams:Cider", clip=True, sigma=6.0),
    "ter": _at("lexical.sacrebleu:Ter"),
    "rouge": _at("lexical.rouge:Rouge"),
    "rouge1": _at("lexical.rouge:Rouge", variant="1"),
    "rouge2": _at("lexical.rouge:Rouge", variant="2"),
    "rougeL": _at("lexical.rouge:Rouge", variant="L"),
    "rougeLsum": _at("lexical.rouge:Rouge", variant="Lsum"),
    "exact_match": _at("lexical.ngrams:ExactMatch"),
    "token_f1": _at("lexical.ngrams:TokenF1"),
    "sari": _at("lexical.simplification:Sari"),
    "length_ratio": _at("lexical.simplification:LengthRatio"),
}
_EDITS = {
    "wer": _at("edits:Wer"),
    "cer": _at("edits:Cer"),
    "mer": _at("edits:Mer"),
    "wil": _at("edits:Wil"),
    "wip": _at("edits:Wip"),
    "per": _at("edits:Per"),
    "cder": _at("edits:Cder"),
    "iter": _at("edits:Iter"),
    "character": _at("edits:CharacTer"),
    "eed": _at("edits:Eed"),
    "edit_similarity": _at("edits:EditSimilarity"),
}
_EMBEDDING = {
    "bertscore": _at("embedding.bertscore:BertScore"),
    "cosine": _at("embedding.sentences:Cosine"),
    "moverscore": _at("embedding.transport:MoverScore"),
    "greedy": _at("embedding.sentences:Greedy"),
    "embedding-average": _at("embedding.sentences:EmbeddingAverage"),
    "vector-extrema": _at("embedding.sentences:VectorExtrema"),
    "yisi0": _at("embedding.bertscore:YiSi0"),
    "yisi1": _at("embedding.bertscore:YiSi1"),
    "wmd": _at("embedding.transport:Wmd"),
    "wmdo": _at("embedding.transport:Wmdo"),
    "sms": _at("embedding.transport:Sms"),
    "swms": _at("embedding.transport:Sms", words=True),
    "sentsim": _at("embedding.sentences:SentSim"),
    "baryscore": _at("embedding.transport:BaryScore"),
    "discoscore": _at("embedding.sentences:DiscoScore"),
    "supert": _at("embedding.sentences:Supert"),
    "matching": _at("embedding.bertscore:Matching"),
}
_NLI = {
    "nli": _at("nli:Nli"),
    "nli-robust": _at("nli:Nli", model="nli-robust"),
    "summac": _at("nli:SummaC"),
    "faithful": _at("faithful:Faithful"),
    "minicheck": _at("checkers:MiniCheck"),
    "alignscore": _at("checkers:AlignScore"),
    "bert-nli": _at("nli:BertNli"),
}
_UNREFERENCED = {
    "blanc": _at("blanc:Blanc"),
    "distinct": _at("lexical.diversity:Distinct"),
    "self_bleu": _at("lexical.diversity:SelfBleu"),
    "compression": _at("lexical.diversity:Compression"),
    "consensus": _at("lexical.diversity:Consensus"),
    "readability": _at("lexical.simplification:Readability"),
}
_GENERATION = {
    "bartscore": _at("likelihood:BartScore"),
    "prism": _at("likelihood:BartScore", frame="skip"),
    "perplexity": _at("likelihood:Perplexity"),
    "fluency": _at("likelihood:Fluency"),
}
_LEARNED = {
    "gauge": _at("learned.gauge:Gauge"),
    "gauge-rated": _at("learned.gauge:GaugeRated"),
    "sescore": _at("learned.regressor:SEScore"),
    "regressor": _at("learned.regressor:Regressor"),
    "rated": _at("learned.regressor:Rated"),
    "ruse": _at("learned.regressor:Ruse"),
    "comet": _at("learned.regressor:Comet"),
    "comet-qe": _at("learned.regressor:CometQE"),
    "bleurt": _at("learned.published:Bleurt"),
    "hhem": _at("learned.published:Hhem"),
    "metricx": _at("learned.published:MetricX"),
    "metricx-qe": _at("learned.published:MetricXQE"),
    "blend": _at("learned.linear:Blend"),
    "beer": _at("learned.linear:Beer"),
    "ruber": _at("learned.ruber:Ruber"),
    "sentinel": _at("learned.gauge:Sentinel"),
}
_EXTERNAL = {
    "scores": _at("stored:Stored"),
    "meteor15": _at("external:Meteor15"),
    "spice": _at("external:Spice"),
    "command": _at("external:Command"),
    "judge": _at("judging:Judge"),
}

# What the papers used. The names of their models:
_NLI_R = "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli"
_NLI_D = "microsoft/deberta-large-mnli"
_XNLI_R = "FacebookAI/xlm-roberta-base"  # to be fine-tuned: the authors' own weights are a pickle on a drive
_XNLI_D = "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
_BART = "facebook/bart-large-cnn"
_BERTSCORES = {
    f"paper/bertscore-{language}": _at("embedding.bertscore:BertScore", model=model, layer=layer, language=language)
    for language, (model, layer) in ((language, encoder_for(language)) for language in LANGUAGES)
}
_PAPERS = {
    "paper/bertscore": _at("embedding.bertscore:BertScore", model="roberta-large", layer=17),
    **_BERTSCORES,
    "paper/nli-r": _at("nli:Nli", model=_NLI_R),
    "paper/nli-d": _at("nli:Nli", model=_NLI_D),
    "paper/nli-r-sum": _at("nli:Nli", model=_NLI_R, formula="e-c", direction="backward"),
    "paper/nli-d-sum": _at("nli:Nli", model=_NLI_D, formula="e-c", direction="backward"),
    "paper/nli-r-src": _at("nli:Nli", model=_NLI_R, formula="-c", direction="forward", anchor="source"),
    "paper/nli-d-src": _at("nli:Nli", model=_NLI_D, formula="-c", direction="forward", anchor="source"),
    "paper/xnli-r": _at("nli:Nli", model=_XNLI_R, anchor="source"),
    "paper/xnli-d": _at("nli:Nli", model=_XNLI_D, anchor="source"),
    "paper/bartscore-p": _at("likelihood:BartScore", model=_BART, direction="hypothesis-given-reference"),
    "paper/bartscore-r": _at("likelihood:BartScore", model=_BART, direction="reference-given-hypothesis"),
    # bart-large-cnn trained further on ParaBank2, to be converted: the authors' weights are a pickle on a drive
    "paper/bartscore-f": _at("likelihood:BartScore", direction="both"),
    "paper/sescore": _at("learned.regressor:PaperSEScore"),  # to be trained: the authors' weights are pickles
    "paper/bartscore-fn": _at("likelihood:BartScore", model=_BART, direction="hypothesis-given-source"),
}


_NEAR = 0.65  # the share of letters from which on a name may be meant: trigram is not prism
_KNOWN_AS = {  # name in other tools, folded -> ours
    "sacrebleu": ("bleu", "chrf", "ter"),
    "unbabelcomet": ("comet", "comet-qe"),
    "googlebleu": ("gleu",),
    "nistmt": ("nist",),
    "rougescore": ("rouge1", "rouge2", "rougeL"),
    **dict.fromkeys(("squad", "squadv2"), ("exact_match", "token_f1")),
    **dict.fromkeys(("em", "exact", "accuracy"), ("exact_match",)),
    "f1": ("token_f1",),
    "levenshtein": ("edit_similarity", "cer"),
}


def _elsewhere(name: str) -> str:
    """The end of the error about an unknown metric, where the nearest names would mislead."""
    presets = [known for known in (*_PAPERS, *SUMS) if known.startswith(f"paper/{name.lower()}-")]
    if presets:
        return f"; as in its paper it is {' or '.join(presets)}"
    module, dot, function = name.rpartition(".")
    if name.startswith(RATINGS):
        return f"; ratings take no name of their own and are no term of a sum: give {name} alone, beside other metrics"
    if not_included(name):
        return not_included(name)
    if dot and function.isidentifier():
        return f"; a metric of your own is {module}:{function} after -m, and in Python the function or object itself"
    same = _KNOWN_AS.get(folded(name), [known for known in METRICS.names() if folded(known) == folded(name)])
    if same:
        return f"; here it is {' or '.join(map(repr, same))}"
    near = nearest(name, METRICS.names(), least=_NEAR)
    if near.startswith("; did you mean"):
        return near
    own = f"a metric of your own is MODULE:{name} after -m, and in Python the function or object itself"
    return f"; 'nlgauge list metrics' has all names; {own}"


METRICS = Registry(
    "metric",
    "nlgauge.metrics",
    _LEXICAL | _EDITS | _EMBEDDING | _NLI | _UNREFERENCED | _GENERATION | _LEARNED | _EXTERNAL | _PAPERS,
    members=("info", "score"),
    elsewhere=_elsewhere,
)

_SHIPPED = frozenset(METRICS.entries)
_MODELS = ("model", "encoder")  # options that name a model
METRIC_OPTIONS = frozenset({"base", "metric"})  # options of metrics of ours whose value is a specification
NAMED = re.compile(r"^([A-Za-z][A-Za-z0-9_.-]*)=(.+)")  # a name of the user's for a metric with its options: NAME=SPEC
OWN = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*):([A-Za-z_][A-Za-z0-9_]*)(?::(.*))?")  # a metric of the user's: module:name
ALIKE = 0.75  # of difflib; as alike as a name and the same with a letter missing
EMBEDDED = "embedded"  # stands for many metrics where `catalogue.expanded` reads it

# Names of sums. Their options are those of their terms: `nli_model`, `bertscore_like`.
SUMS: dict[str, str] = {
    "paper/menli-r": "0.2*paper/nli-r + 0.8*paper/bertscore:idf=true",
    "paper/menli-d": "0.2*paper/nli-d + 0.8*paper/bertscore:idf=true",
}


def metric(spec: MetricLike, **options: Any) -> Metric:
    """The metric that a specification names; a metric object is returned as it is, and a function becomes a metric.

    Args:
        spec: a specification, a metric object, or a function or a model of yours, see `Plain`.
        options: options in Python values, beside or in place of those in the specification: `layer=5`.

    Raises:
        SpecError: a name or option is unknown (the error gives the nearest known one), a value has the wrong type, or
            the text does not follow the grammar of specifications.
    """
    if not isinstance(spec, str):
        if predicts(spec) or (not isinstance(spec, (Metric, type)) and callable(spec)):
            return Function(function=Plain(spec), **options)
        METRICS.check_object(spec, isinstance(spec, Metric), "a metric specification", options)
        return cast(Metric, spec)
    own = OWN.fullmatch(spec)
    if own is not None and own[1].lower() not in map(str.lower, METRICS.names()):  # what is read loads no module
        raise SpecError(
            f"unknown metric {spec!r}: a module is loaded only where it is typed after -m; in Python import"
            f" {own[2]} from {own[1]}, and give it in the place of the text"
        )
    parsed = parse(spec)
    if isinstance(parsed, Spec) and parsed.name in SUMS:
        parsed, options = _summed(parsed.name, {**dict(parsed.options), **options}), {}
    if isinstance(parsed, Spec) and parsed.name == EMBEDDED:
        raise SpecError(f"{EMBEDDED!r} stands for many metrics: it takes no options and goes with score and meta")
    if isinstance(parsed, Sum):
        if options:
            raise SpecError(f"options are given beside the sum {spec!r}; write them into its terms")
        return _built(parsed)
    return _of_name(parsed, options)


def _summed(name: str, options: Mapping[str, Any]) -> Sum:
    """A sum of `SUMS` whose terms have options: `nli_model` is `model` of the term that is an `nli`."""
    found = parse(SUMS[name])
    assert isinstance(found, Sum)  # so it is written
    terms: dict[str, tuple[float, Any]] = {metric(str(part)).info.name: (weight, part) for weight, part in found.terms}
    for typed, value in options.items():
        of, _, option = typed.partition("_")
        if of not in terms or not option:
            known = " and ".join(f"{term}_model=..." for term in terms)
            raise SpecError(f"{name} is the sum {SUMS[name]!r} and has no option {typed!r}; of its terms {known}")
        weight, term = terms[of]
        terms[of] = weight, replace(term, options=tuple({**dict(term.options), option: show(value)}.items()))
    return Sum(tuple(terms.values()), found.norm)


def own_function(function: Callable[..., Any], target: str) -> str:
    """Make a function known by its name, so that specifications can name it in this process; the name.

    Args:
        function: see `Plain`.
        target: where it is from, as `module:name`, for errors.

    Raises:
        SpecError: it has arguments that are no texts of a segment, or another metric has its name.
    """
    plain = Plain(function)
    known = METRICS.entries.get(plain.name)
    if plain.name in METRICS.names() and (known is None or known.preset.get("function") != plain):
        raise SpecError(f"{target}: another metric is called {plain.name!r}; give the function another name")
    METRICS.entries[plain.name] = Entry("nlgauge.metrics.function:Function", {"function": plain})
    return plain.name


def own_names() -> list[str]:
    """Names that were made known in this process alone: functions and classes that a user typed."""
    return [name for name in METRICS.entries if name not in _SHIPPED]


def metric_names() -> list[str]:
    """What `-m` takes for a name."""
    return [*METRICS.names(), *SUMS, EMBEDDED]


def names_metric(word: str) -> bool:
    """Whether a word that follows `-m SPEC` is meant as a further one: its name is known, or a slip away from it.

    A metric that lacks an option is one, and so is a sum, and a function of the user's with its module.
    """
    try:
        parsed = [None if OWN.fullmatch(spec) else parse(NAMED.sub(r"\2", spec)) for spec in split(word)]
    except SpecError:
        return False
    known = [name.lower() for name in metric_names()]
    for spec in parsed:
        name = spec.name.lower() if isinstance(spec, Spec) else ""
        slip = "." not in name and difflib.get_close_matches(name, known, 1, ALIKE)
        if isinstance(spec, Spec) and not (name in known or slip or not_included(name)):
            return False
    return True


def on_encoder(spec: str, encoder: str | None) -> str:
    """The specification in which each metric that names no model names the one that stands on an encoder.

    Where a metric has no model of that encoder, it keeps its own. What a specification says itself stays.

    Args:
        spec: as typed.
        encoder: `embedded`, `base` or `multilingual`; None is `embedded`.

    Raises:
        SpecError: the specification follows no grammar, or its metric is unknown; or the encoder is `auto`, which texts
            must settle before, and the metric would take it.
    """
    if encoder in (None, locate.NAME):
        return spec
    if encoder == AUTO and is_placed(spec):
        raise SpecError(
            f"{spec}: the encoder auto is chosen by texts that are looked at first, and here none are; name embedded,"
            " base or multilingual"
        )
    return str(_on_encoder(parse(spec), encoder))


def is_placed(spec: str) -> bool:
    """Whether a metric stands on the encoder of the run, and so on `multilingual` if that is named.

    False for what is no specification, which is refused where the metric is made.
    """
    try:
        parsed = parse(spec)
        return _on_encoder(parsed, fetch.MULTILINGUAL) != parsed
    except SpecError:
        return False


def _on_encoder(parsed: Spec | Sum, encoder: str) -> Spec | Sum:
    if isinstance(parsed, Sum):
        return Sum(tuple((weight, _on_encoder(part, encoder)) for weight, part in parsed.terms), parsed.norm)
    if parsed.name in (*SUMS, EMBEDDED):
        return parsed
    typed, (cls, preset) = dict(parsed.options), METRICS.lookup(parsed.name)
    if "vectors" in typed:  # static vectors, beside which an encoder is refused
        return parsed
    if not is_english(typed.get("lang", typed.get("language", ENGLISH))):  # a language, which names an encoder, too
        return parsed
    own = {f.name: preset.get(f.name, f.default) for f in fields(cls) if f.name in _MODELS and f.name not in typed}
    moved = {option: heads.on_encoder(model, encoder) for option, model in own.items() if isinstance(model, str)}
    kinds = fields_of(cls) if moved else {}
    more = tuple((o, model) for o, model in moved.items() if model != own[o] and may_be(model, kinds[o].kind))
    inner = METRIC_OPTIONS if cls.__module__.startswith(f"{__package__}.") else ()
    given = tuple((name, on_encoder(value, encoder) if name in inner else value) for name, value in parsed.options)
    return replace(parsed, options=(*given, *more))


def named(metrics: MetricLike | Sequence[MetricLike], encoder: str | None = None) -> dict[str, BaseMetric]:
    """Specification as typed -> metric.

    Args:
        metrics: specifications, and metric objects, which stay as they are; `human.NAME` is a column of the data.
        encoder: the encoder of metrics that a specification names without a model, as in `Runtime`.

    Raises:
        SpecError: there is no metric, or one name occurs twice.
    """
    listed = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Sequence) else list(metrics)
    if not listed:
        raise SpecError("no metric is named, expected at least one")
    by_name: dict[str, BaseMetric] = {}
    placed = [_placed(entry, encoder) if isinstance(entry, str) else entry for entry in listed]
    for entry, built in zip(listed, each(metric, placed), strict=True):
        name = entry if isinstance(entry, str) else signature_of(built).spec
        if name in by_name:
            raise SpecError(f"metric {name!r} is named twice")
        by_name[name] = whole(built)
    return by_name


def _placed(spec: str, encoder: str | None) -> MetricLike:
    if not spec.startswith(RATINGS):
        return on_encoder(spec, encoder)
    return RatingColumn(criterion=spec.removeprefix(RATINGS))


def takes_metrics(function: Callable[Given, R]) -> Callable[Given, R]:
    """Let a public function say where an option of a metric stands, and what it lacks, in place of a TypeError."""
    signature = inspect.signature(function)

    @wraps(function)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> R:
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            _advise(f"{function.__name__}()", signature.parameters, kwargs)
        return function(*args, **kwargs)

    return called


def _advise(name: str, known: Mapping[str, object], given: Mapping[str, Any]) -> None:
    """Raise what is wrong with arguments, if this is known better than Python says it."""
    metrics = given.get("metrics")
    for key in (key for key in given if key not in known):
        listed = [metrics] if isinstance(metrics, str) else metrics if isinstance(metrics, Sequence) else []
        for spec in (spec for spec in listed if isinstance(spec, str)):
            with suppress(SpecError):
                if any(one.name == key for one in options_of(metric(spec))):
                    typed = f"{spec}{',' if ':' in spec else ':'}{key}={quote(show(given[key]))}"
                    raise InputError(f"{key} is an option of {spec}, and {name} takes none; write metrics=[{typed!r}]")
        raise InputError(f"{name} has no argument {key!r}{nearest(key, known)}")
    if "metrics" in known and metrics is None:
        raise InputError(f'{name} is given no metrics, as in metrics=["bleu", "chrf"]')


def _built(parsed: Spec | Sum) -> Metric:
    if isinstance(parsed, Sum):
        # A term may be the name of a sum, so that each is read like a specification of its own.
        terms = [
            (weight, whole(_built(part) if isinstance(part, Sum) else metric(str(part))))
            for weight, part in parsed.terms
        ]
        return Combination(tuple(terms), parsed.norm)
    return _of_name(parsed, {})


def _of_name(parsed: Spec, options: Mapping[str, Any]) -> Metric:
    built: Metric = METRICS.build(parsed, options)
    return built


def list_metrics() -> dict[str, MetricInfo]:
    """Every metric by name, with what it is: its needs, range, direction and a summary.

    `nlgauge.metric(name)` makes one; the options of each are on its page and in `nlgauge list metrics NAME`.
    """
    found = {}
    for name in [*METRICS.names(), *SUMS]:
        with suppress(SpecError):
            found[name] = metric_info(name)
    return found


def metric_info(name: str) -> MetricInfo:
    """The `MetricInfo` of a metric as its options make it; they may decide what the text is compared with.

    Raises:
        SpecError: the name is unknown, or its package is broken.
    """
    try:
        return metric(name).info
    except SpecError:  # an option that has no default
        declared: MetricInfo = METRICS.lookup(name)[0].info  # type: ignore[attr-defined]
        return declared


# --- The catalogue: one flat row per metric with its summary, needs and downloads

_NO_MODEL, _EMBEDDED_MODELS = "no model", "the embedded models"


def catalogue_row(name: str) -> dict[str, Any]:
    """The row of a metric, a preset or a named sum, as `nlgauge list metrics --json` writes it.

    `preset_of` is the specification that a name stands for; None for a metric of its own. `downloads` are the models
    of the hub that it fetches, once, unless it is told otherwise. `lacks` are the options that must be given.

    Raises:
        SpecError: the name is unknown, or its package is broken.
    """
    about, options = metric_info(name), defaults(name)
    low, high = about.range
    return {
        "metric": name,
        "preset_of": _preset_of(name),
        "what": about.summary,
        "tasks": sorted(about.tasks),
        "needs": sorted(about.needs),
        "low": low if math.isfinite(low) else None,
        "high": high if math.isfinite(high) else None,
        "higher_is_better": about.higher_is_better,
        "runs_embedded": not _models(name),
        "uses_model": any(_uses_model(term) for term in _names(name)),
        "downloads": [model for model in _models(name) if model is not None],
        "lacks": [option for option, value in options.items() if value is dataclasses.MISSING],
        "options": {option: _written(value) for option, value in options.items()},
        "paper": about.paper,
    }


def embedded_metrics() -> list[str]:
    """The metrics that run as they are, without a download, a program of others or an option of the user's.

    Of two names for the same metric the first is listed: `bleu`, and not `bleu4`. What does not judge outputs is left
    out: a control, and what says how long, how diverse or how hard to read they are.
    """
    found: dict[str, Metric] = {}
    for name in METRICS.names():
        try:
            shipped = metric_info(name).judges and runs_with(name) in (_NO_MODEL, _EMBEDDED_MODELS)
            if shipped and metric(name) not in found.values():
                found[name] = metric(name)
        except SpecError:  # its package is broken, as `nlgauge list metrics` says
            continue
    return list(found)


@overload
def expanded(metrics: Sequence[str]) -> tuple[list[str], frozenset[str]]: ...
@overload
def expanded(metrics: MetricLike | Sequence[MetricLike]) -> tuple[list[MetricLike], frozenset[str]]: ...
def expanded(metrics: MetricLike | Sequence[MetricLike]) -> tuple[list[Any], frozenset[str]]:
    """Metrics with all embedded ones in the place of `embedded`.

    Returns:
        The metrics, and those of them that `embedded` alone stands for: they may be left out.
    """
    listed = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Sequence) else list(metrics)
    if EMBEDDED not in listed:
        return listed, frozenset()
    group = [name for name in embedded_metrics() if name not in listed]
    place = listed.index(EMBEDDED)
    return [*listed[:place], *group, *listed[place + 1 :]], frozenset(group)


def defaults(name: str) -> Mapping[str, Any]:
    """Option -> its value unless it is given, MISSING where it must be; empty for a named sum."""
    if name in SUMS:
        return {}
    cls, preset = METRICS.lookup(name)
    return {f.name: preset.get(f.name, f.default) for f in dataclasses.fields(cls) if f.init}


def runs_with(name: str) -> str:
    """Whose model a metric runs, unless it is told otherwise."""
    row = catalogue_row(name)
    told = [f"{model} of the hub" for model in row["downloads"]]
    told += [f"a {option} of yours" for option in row["lacks"]]
    return ", ".join(told) or (_EMBEDDED_MODELS if row["uses_model"] else _NO_MODEL)


def _preset_of(name: str) -> str | None:
    if name in SUMS:
        return SUMS[name]
    cls, preset = METRICS.lookup(name)
    if not preset:
        return None
    base: str = cls.info.name  # type: ignore[attr-defined]
    return f"{base}:{','.join(f'{option}={quote(show(value))}' for option, value in preset.items())}"


def _names(name: str) -> list[str]:
    """The name, or those of the terms of a named sum."""
    if name not in SUMS:
        return [name]
    parsed = parse(SUMS[name])
    assert isinstance(parsed, Sum)  # so it is written
    return [term.name for _, term in parsed.terms if isinstance(term, Spec)]


def _models(name: str) -> list[str | None]:
    """Models that do not come with the package; None for one that must be named, or that a program of others has."""
    return list(dict.fromkeys(model for term in _names(name) for model in _models_of(term)))


def _models_of(name: str) -> Iterator[str | None]:
    options = defaults(name)
    if dataclasses.MISSING in options.values():
        yield None
    model = options.get("model")
    if isinstance(model, str) and model != locate.NAME and model not in heads.SHIPPED:
        yield model


def _uses_model(name: str) -> bool:
    return any(defaults(name).get(option) is not None for option in _MODELS)


def _written(value: Any) -> Any:
    """A default as JSON has it; None also where a value must be given, as `lacks` says."""
    return value if isinstance(value, bool | int | float | str) else None
