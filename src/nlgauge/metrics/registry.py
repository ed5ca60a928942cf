"""Which metrics there are, and how a specification becomes one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from nlgauge.core.errors import InputError, SpecError, each, nearest
from nlgauge.core.metric import options_of, show, signature_of
from nlgauge.core.options import Entry, Registry, construct
from nlgauge.core.scores import MetricInfo
from nlgauge.core.spec import Spec, Sum, parse, quote
from nlgauge.metrics.base import Metric, MetricLike
from nlgauge.metrics.combine import Combination
from nlgauge.metrics.embedding.languages import LANGUAGES, encoder_for
from nlgauge.metrics.external.elsewhere import not_included
from nlgauge.metrics.function import Function, Plain, predicts
from nlgauge.metrics.guards.guarded import GUARDED, Guarded
from nlgauge.models import heads, locate

Given = ParamSpec("Given")
R = TypeVar("R")


def _at(target: str, **options: Any) -> Entry:
    """Where a name leads: `module:Class` inside `nlgauge.metrics`, and the options that the name sets."""
    return Entry(f"nlgauge.metrics.{target}", options)


# One line per name. A new metric needs a class and a line in the table of its family.
_LEXICAL = {
    "bleu": _at("lexical.bleu:Bleu"),
    "bleu1": _at("lexical.bleu:Bleu", max_ngram_order=1),
    "bleu2": _at("lexical.bleu:Bleu", max_ngram_order=2),
    "bleu3": _at("lexical.bleu:Bleu", max_ngram_order=3),
    "bleu4": _at("lexical.bleu:Bleu", max_ngram_order=4),
    "chrf": _at("lexical.chrf:ChrF"),
    "chrf++": _at("lexical.chrf:ChrF", word_order=2),
    "wordf": _at("lexical.chrf:ChrF", char_order=0, word_order=4),
    "wordf1": _at("lexical.chrf:ChrF", char_order=0, word_order=4, beta=1),
    "wordf2": _at("lexical.chrf:ChrF", char_order=0, word_order=4, beta=2),
    "wordf3": _at("lexical.chrf:ChrF", char_order=0, word_order=4, beta=3),
    "gleu": _at("lexical.ngrams.gleu:Gleu"),
    "nist": _at("lexical.ngrams.nist:Nist"),
    "ribes": _at("lexical.ngrams.ribes:Ribes"),
    "meteor": _at("lexical.ngrams.meteor:Meteor"),
    "qmetric": _at("lexical.ngrams.qmetric:QMetric"),
    "qbleu1": _at("lexical.ngrams.qmetric:QMetric", base="bleu1"),
    "qbleu2": _at("lexical.ngrams.qmetric:QMetric", base="bleu2"),
    "qbleu3": _at("lexical.ngrams.qmetric:QMetric", base="bleu3"),
    "qbleu4": _at("lexical.ngrams.qmetric:QMetric", base="bleu4"),
    "qrouge": _at("lexical.ngrams.qmetric:QMetric", base="rougeL"),
    "qnist": _at("lexical.ngrams.qmetric:QMetric", base="nist"),
    "qmeteor": _at("lexical.ngrams.qmetric:QMetric", base="meteor"),
    "parent": _at("lexical.ngrams.parent:Parent"),
    "cider": _at("lexical.ngrams.cider:Cider"),
    "cider-d": _at("lexical.ngrams.cider:Cider", clip=True, sigma=6.0),
    "ter": _at("lexical.ter:Ter"),
    "rouge": _at("lexical.rouge:Rouge"),
    "rouge1": _at("lexical.rouge:Rouge", variant="1"),
    "rouge2": _at("lexical.rouge:Rouge", variant="2"),
    "rougeL": _at("lexical.rouge:Rouge", variant="L"),
    "rougeLsum": _at("lexical.rouge:Rouge", variant="Lsum"),
}
_EDITS = {
    "wer": _at("edits.wer:Wer"),
    "cer": _at("edits.wer:Cer"),
    "mer": _at("edits.wer:Mer"),
    "wil": _at("edits.wer:Wil"),
    "wip": _at("edits.wer:Wip"),
    "per": _at("edits.per:Per"),
    "cder": _at("edits.cder:Cder"),
    "iter": _at("edits.iter:Iter"),
    "character": _at("edits.character:CharacTer"),
    "eed": _at("edits.eed:Eed"),
}
_EMBEDDING = {
    "bertscore": _at("embedding.bertscore:BertScore"),
    "cosine": _at("embedding.cosine:Cosine"),
    "moverscore": _at("embedding.moverscore:MoverScore"),
    "greedy": _at("embedding.pooledvectors:Greedy"),
    "embedding-average": _at("embedding.pooledvectors:EmbeddingAverage"),
    "vector-extrema": _at("embedding.pooledvectors:VectorExtrema"),
    "yisi0": _at("embedding.yisi:YiSi0"),
    "yisi1": _at("embedding.yisi:YiSi1"),
    "wmd": _at("embedding.wmd:Wmd"),
    "wmdo": _at("embedding.wmdo:Wmdo"),
    "sms": _at("embedding.sms:Sms"),
    "swms": _at("embedding.sms:Sms", words=True),
    "sentsim": _at("embedding.sentsim:SentSim"),
    "baryscore": _at("embedding.baryscore:BaryScore"),
    "discoscore": _at("embedding.discoscore:DiscoScore"),
    "supert": _at("embedding.supert:Supert"),
    "matching": _at("embedding.matching:Matching"),
}
_NLI = {
    "nli": _at("nli.menli:Nli"),
    "nli-robust": _at("nli.menli:Nli", model="nli-robust"),
    "summac": _at("nli.summac:SummaC"),
    "faithful": _at("nli.faithful:Faithful"),
    "bert-nli": _at("nli.dialogue:BertNli"),
}
_UNREFERENCED = {
    "blanc": _at("generation.blanc:Blanc"),
    "gruen": _at("embedding.gruen:Gruen"),
}
_GENERATION = {
    "bartscore": _at("generation.bartscore:BartScore"),
    "prism": _at("generation.bartscore:BartScore", frame="skip"),
    "perplexity": _at("generation.perplexity:Perplexity"),
    "fluency": _at("generation.fluency:Fluency"),
}
_LEARNED = {
    "gauge": _at("learned.gauge:Gauge"),
    "gauge-rated": _at("learned.gauge:GaugeRated"),
    "sescore": _at("learned.sescore:SEScore"),
    "regressor": _at("learned.regressor:Regressor"),
    "rated": _at("learned.regressor:Rated"),
    "ruse": _at("learned.regressor:Ruse"),
    "comet": _at("learned.regressor:Comet"),
    "comet-qe": _at("learned.regressor:CometQE"),
    "blend": _at("learned.blend:Blend"),
    "beer": _at("learned.beer:Beer"),
    "ruber": _at("learned.ruber:Ruber"),
    "sentinel": _at("learned.sentinel:Sentinel"),
}
_EXTERNAL = {
    "scores": _at("stored:Stored"),
    "meteor15": _at("external.meteor15:Meteor15"),
    "unbabel-comet": _at("external.comet:UnbabelComet"),
    "bleurt": _at("external.bleurt:Bleurt"),
    "spice": _at("external.spice:Spice"),
    "summac-conv": _at("external.summac_conv:SummacConv"),
    "external": _at("external.own:External"),
    "judge": _at("judging.judge:Judge"),
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
    "paper/nli-r": _at("nli.menli:Nli", model=_NLI_R),
    "paper/nli-d": _at("nli.menli:Nli", model=_NLI_D),
    "paper/nli-r-sum": _at("nli.menli:Nli", model=_NLI_R, formula="e-c", direction="backward"),
    "paper/nli-d-sum": _at("nli.menli:Nli", model=_NLI_D, formula="e-c", direction="backward"),
    "paper/nli-r-src": _at("nli.menli:Nli", model=_NLI_R, formula="-c", direction="forward", anchor="source"),
    "paper/nli-d-src": _at("nli.menli:Nli", model=_NLI_D, formula="-c", direction="forward", anchor="source"),
    "paper/xnli-r": _at("nli.menli:Nli", model=_XNLI_R, anchor="source"),
    "paper/xnli-d": _at("nli.menli:Nli", model=_XNLI_D, anchor="source"),
    "paper/bartscore-p": _at("generation.bartscore:BartScore", model=_BART, direction="hypothesis-given-reference"),
    "paper/bartscore-r": _at("generation.bartscore:BartScore", model=_BART, direction="reference-given-hypothesis"),
    # bart-large-cnn trained further on ParaBank2, to be converted: the authors' weights are a pickle on a drive
    "paper/bartscore-f": _at("generation.bartscore:BartScore", direction="both"),
    "paper/sescore": _at("learned.sescore:PaperSEScore"),  # to be trained: the authors' weights are pickles
    "paper/bartscore-fn": _at("generation.bartscore:BartScore", model=_BART, direction="hypothesis-given-source"),
}


def _elsewhere(name: str) -> str:
    """The end of the error about an unknown metric, where the nearest names would mislead."""
    presets = [known for known in (*_PAPERS, *SUMS) if known.startswith(f"paper/{name.lower()}-")]
    if presets:
        return f"; as in its paper it is {' or '.join(presets)}"
    module, dot, function = name.rpartition(".")
    if not_included(name):
        return not_included(name)
    if dot and function.isidentifier():
        return f"; a metric of your own is {module}:{function} after -m, and in Python the function or object itself"
    if nearest(name, METRICS.names()).startswith("; did you mean"):
        return ""
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
METRIC_OPTIONS = frozenset({"base"})  # options of metrics of ours whose value is a specification
OWN = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*):([A-Za-z_][A-Za-z0-9_]*)(?::(.*))?")  # a metric of the user's: module:name
EMBEDDED = "embedded"  # stands for many metrics where `catalogue.expanded` reads it

# Names of sums. They take no options: write the sum out to change it.
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
    if predicts(spec) or (not isinstance(spec, (str, Metric, type)) and callable(spec)):
        return Function(function=Plain(spec), **options)
    if not isinstance(spec, str):
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
        if parsed.options or options:
            raise SpecError(
                f"{parsed.name} is the sum {SUMS[parsed.name]!r} and takes no options; write the sum out to change it"
            )
        parsed = parse(SUMS[parsed.name])
    if isinstance(parsed, Spec) and parsed.name == EMBEDDED:
        raise SpecError(f"{EMBEDDED!r} stands for many metrics: it takes no options and goes with score and meta")
    if isinstance(parsed, Sum):
        if options:
            raise SpecError(f"options are given beside the sum {spec!r}; write them into its terms")
        return _built(parsed)
    return _of_name(parsed, options)


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


def on_encoder(spec: str, encoder: str | None) -> str:
    """The specification in which each metric that names no model names the one that stands on an encoder.

    Where a metric has no model of that encoder, it keeps its own. What a specification says itself stays.

    Args:
        spec: as typed.
        encoder: `embedded` or `base`; None is `embedded`.

    Raises:
        SpecError: the specification follows no grammar, or its metric is unknown.
    """
    if encoder in (None, locate.NAME):
        return spec
    return str(_on_encoder(parse(spec), encoder))


def _on_encoder(parsed: Spec | Sum, encoder: str) -> Spec | Sum:
    if isinstance(parsed, Sum):
        return Sum(tuple((weight, _on_encoder(part, encoder)) for weight, part in parsed.terms), parsed.norm)
    if parsed.inside is not None:
        return replace(parsed, inside=_on_encoder(parsed.inside, encoder))
    if parsed.name in (*SUMS, EMBEDDED, GUARDED):
        return parsed
    typed, (cls, preset) = dict(parsed.options), METRICS.lookup(parsed.name)
    if "vectors" in typed:  # static vectors, beside which an encoder is refused
        return parsed
    own = {f.name: preset.get(f.name, f.default) for f in fields(cls) if f.name in _MODELS and f.name not in typed}
    moved = {option: heads.on_encoder(model, encoder) for option, model in own.items() if isinstance(model, str)}
    more = tuple((option, model) for option, model in moved.items() if model != own[option])
    inner = METRIC_OPTIONS if cls.__module__.startswith(f"{__package__}.") else ()
    given = tuple((name, on_encoder(value, encoder) if name in inner else value) for name, value in parsed.options)
    return replace(parsed, options=(*given, *more))


def named(metrics: MetricLike | Sequence[MetricLike], encoder: str | None = None) -> dict[str, Metric]:
    """Specification as typed -> metric.

    Args:
        metrics: specifications, and metric objects, which stay as they are.
        encoder: the encoder of metrics that a specification names without a model, as in `Runtime`.

    Raises:
        SpecError: there is no metric, or one name occurs twice.
    """
    listed = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Sequence) else list(metrics)
    if not listed:
        raise SpecError("no metric is named, expected at least one")
    by_name: dict[str, Metric] = {}
    placed = [on_encoder(entry, encoder) if isinstance(entry, str) else entry for entry in listed]
    for entry, built in zip(listed, each(metric, placed), strict=True):
        name = entry if isinstance(entry, str) else signature_of(built).spec
        if name in by_name:
            raise SpecError(f"metric {name!r} is named twice")
        by_name[name] = built
    return by_name


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
            (weight, _built(part) if isinstance(part, Sum) else metric(str(part))) for weight, part in parsed.terms
        ]
        return Combination(tuple(terms), parsed.norm)
    return _of_name(parsed, {})


def _of_name(parsed: Spec, options: Mapping[str, Any]) -> Metric:
    if parsed.inside is not None:
        if parsed.name != GUARDED:
            raise SpecError(f"{parsed.name} holds no metric in brackets, expected {GUARDED}({parsed.inside})")
        inside = {"metric": metric(str(parsed.inside))}
        guarded: Metric = construct(Guarded, dict(parsed.options), inside, GUARDED, options)
        return guarded
    if parsed.name == GUARDED:
        raise SpecError(f"{GUARDED} holds a metric in brackets, as in {GUARDED}(chrf); got {str(parsed)!r}")
    built: Metric = METRICS.build(parsed, options)
    return built


def list_metrics() -> dict[str, MetricInfo]:
    """Every metric by name, with what it is: its needs, range, direction and a summary.

    `nlgauge.metric(name)` makes one; the options of each are on its page and in `nlgauge list metrics NAME`. A metric
    whose package is broken is left out; `nlgauge.metric(name)` says why.
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
