"""The contract of a metric as calls: what holds for every metric."""

from __future__ import annotations

import copy
import inspect
import math
import re
import tempfile
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path
from types import NoneType
from typing import Any, Literal, cast

import numpy as np

from nlgauge.core.arrays import Array, Counts
from nlgauge.core.errors import InputError, NlgaugeError, SpecError
from nlgauge.core.metric import Metric, options_of, signature_of, spec_of, whole
from nlgauge.core.options import construct, sorts
from nlgauge.core.scores import MetricInfo, Scores, ids, join, mean_of_defined
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Spec, parse
from nlgauge.metrics.registry import METRICS, own_function
from nlgauge.metrics.registry import metric as build
from nlgauge.metrics.registry import metric as named_metric
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.cache import ScoreCache
from nlgauge.runtime.runtime import Runtime

# --- A metric under examination: its scores of a list, and what it means that two of them agree


ROUNDING = 1e-9  # 100 * exp(log(1)) and the like may end a few float64 roundings beyond the end of a range


@dataclass
class Examined:
    """A metric with the segments it is tried on.

    Attributes:
        tolerance: how far two scores of one segment may lie apart, relative to values above 1.
    """

    metric: Metric
    segments: list[Segment]
    runtime: Runtime
    tolerance: float

    @cached_property
    def base(self) -> Scores:
        """The scores of the segments as given."""
        return self.score(self.segments)

    @property
    def sign(self) -> int:
        """The sign that makes higher values better."""
        return 1 if self.metric.info.higher_is_better else -1

    @property
    def reads_references(self) -> bool:
        """Whether the metric holds the hypothesis against references."""
        return "references" in self.metric.info.needs

    def require(self, holds: Any, sentence: str) -> None:
        """Raise the sentence, with the metric's name before it, unless it holds."""
        if not holds:
            raise AssertionError(f"{spec_of(self.metric)}: {sentence}")

    def score(self, segments: Sequence[Segment], runtime: Runtime | None = None) -> Scores:
        """Scores of a fresh list, which must come back as it was given."""
        given = list(segments)
        before = copy.deepcopy(given)
        scores = self.metric.score(given, runtime or self.runtime)
        self.require(given == before, "score changes the segments it is given")
        self.require(isinstance(scores, Scores), f"score returns {type(scores).__name__}, expected Scores")
        self.require(scores.ids == ids(segments), "the ids of the scores are not those of the segments, in their order")
        return scores

    def near(self, one: Any, other: Any, slack: float = 0.0) -> Any:
        """Elementwise: within the tolerance (or `slack`, if that is more), or both NaN, or the same infinity."""
        one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            close = np.isfinite(one) & (
                np.abs(one - other) <= max(self.tolerance, slack) * np.maximum(1.0, np.abs(one))
            )
        return close | (one == other) | (np.isnan(one) & np.isnan(other))

    def same(self, expected: Scores, found: Scores, change: str) -> None:
        """Require that two scores of the same segments agree in values, parts, flags and statistics."""
        for kind in ("parts", "flags"):
            names = [list(getattr(s, kind)) for s in (expected, found)]
            self.require(
                names[0] == names[1], f"{change} changes which {kind} there are, from {names[0]} to {names[1]}"
            )
        columns = {"value": (expected.values, found.values)}
        columns |= {f"part {name!r}": (column, found.parts[name]) for name, column in expected.parts.items()}
        columns |= {
            f"flag {name!r}": (column.astype(np.float64), found.flags[name].astype(np.float64))
            for name, column in expected.flags.items()
        }
        stats = expected.segment_stats, found.segment_stats
        self.require(stats[0].shape[1] == stats[1].shape[1], f"{change} changes the number of statistics")
        columns |= {f"statistic {i}": (stats[0][:, i], stats[1][:, i]) for i in range(stats[0].shape[1])}
        for name, (one, other) in columns.items():
            for i in np.flatnonzero(~self.near(one, other))[:1].tolist():
                self.require(
                    False,
                    f"{change} changes the {name} of segment {expected.ids[i]!r} from {one[i]} to {other[i]} (tolerance"
                    f" {self.tolerance:g})",
                )

    def within_range(self, values: Array, names: Sequence[str]) -> None:
        """Require that every defined value lies in `info.range`."""
        low, high = self.metric.info.range
        inside = (values >= low) & (values <= high)
        at_the_ends = self.near(values, low, ROUNDING) | self.near(values, high, ROUNDING)
        for i in np.flatnonzero(~(inside | at_the_ends | np.isnan(values))).tolist():
            self.require(False, f"{names[i]} scores {values[i]}, outside info.range {self.metric.info.range}")


# --- Texts on which perturbations tend to fail, with their dialogue turns, other texts and other references

ORDINARY: tuple[str, ...] = (
    "The ferry leaves the old harbour at seven every morning.",
    "Maria Lopez bought 12 red apples and 3.5 kg of flour for $40 on 4 May 2019.",
    "It isn't cold today, but they won't stay; she'll come back because he's been ill.",
    (
        "The committee's chairman, John Smith, said on Monday that prices had risen by 5% since 1990. Nobody was"
        " surprised. They had never asked him."
    ),
    "“We don’t know what they’re doing,” the nurse said — and left.",
    "Who is the director of the new museum?",
    "When did the first bridge over the river open?",
    "Is there a shorter way to the station?",
    "a man in front of a tall tree",
    "two girls and a small brown dog play on the grass",
    "A lady riding a white horse next to her brother.",
    "Sure, I would love to come with you tomorrow!",
    "no, thanks. i've already eaten",
    "POLICE FIND MISSING BOY IN OLD CHURCH",
    "Go home and bring me three of the best books you own.",
    "In 2020 Berlin, London and the U.S. were hit by storms; about 1,500 houses lost their roofs.",
    "Dr. Anna Brown thinks that her sons do not like the hundred and twenty-seven songs he wrote.",
)
SHORT: tuple[str, ...] = (
    "",
    " \t\n",
    "Yes",
    "Why not?",
    "I",
    "a",
    "42",
    "...",
    "?!",
    "dogs",
    "Run!",
    "'",
    "’s",
    "n't",
    "-",
)
ODD: tuple[str, ...] = (
    "The dog\u00a0barks  twice .\tThe cat\n\nsleeps.\r\nThe end.",
    "lone \ud800 surrogates \udfff and a big\x00 zero",
    "Le cafe\u0301 est nai\u0308f \u200b\u200d\ufeff and old",
    "((((old ) dog]]] ,,, ;; :: -- ’’ '' `` “„ \\{}%$#@",
    "www.example.org/a?b=1&c=2 someone@example.org #tag @name :-) 🚢👍🏽",
    "1 2 3 4 5 1/2 10-12 3rd $1.70 £3 million €5 12:30 +49-30-1234 v1.2.3 0x1f ½ ٣ １２",
    "the the the the a a an an old old old old dog dog dog dog",
    "He saw saw saws. " * 40,
    "x" * 1000,
    "very " * 1500 + "old dog",
)
FOREIGN: tuple[str, ...] = (
    "Der alte Hund schläft auf dem Sofa und die Katze ist nicht da.",
    "Le chien dort sur le canapé et il ne veut pas sortir avec nous.",
    "Старая собака спит на диване.",
    "船は毎朝七時に港を出ます。",
    "猫坐在垫子上，狗在外面。",
    "الكلب نائم على الأريكة.",
    "สุนัขนอนอยู่บนโซฟา",
    "Ο σκύλος κοιμάται στον καναπέ.",
)
TEXTS: tuple[str, ...] = (*ORDINARY, *SHORT, *ODD, *FOREIGN)

CONTEXT: Sequence[Mapping[str, str]] = (
    {"speaker": "Ann", "text": "Did you see the old lighthouse on your trip?"},
    {"speaker": "Bob", "text": "I did. I liked it very much, and I bought 4 postcards there."},
    {"speaker": "Ann", "text": "My sister was there last year. She says that it is small."},
    {"speaker": "Bob", "text": "It is not small, but the stairs are steep."},
    {"speaker": "Ann", "text": "Would you go there again?"},
)
POOL: tuple[str, ...] = (
    "The bakery on the corner sells bread until noon.",
    "A boy throws a ball over the fence.",
    "Nobody has repaired the clock of the town hall yet.",
    "Which train stops at the airport?",
    "I have no idea what you mean.",
)
REFERENCES: tuple[str, ...] = ("Someone wrote this in another way.", "The same was said differently.")


# --- A few segments on which metrics tend to fail: blank, emoji, scripts without blanks, long, repeated, and so on


def _segment(
    name: str,
    hypothesis: str,
    *references: str,
    source: str = "Zu diesem Fall gibt es keinen Satz.",
    item: str | None = None,
) -> Segment:
    turns = (
        {"speaker": "A", "text": "What is the news from the harbour?"},
        {"speaker": "B", "text": "Let me read it to you."},
    )
    records = (("ferry", "departs", "seven"), ("road", "closed by", "storm"))
    return Segment(
        name, hypothesis, references, source=source, system="own", item=item or name, context=turns, table=records
    )


def _log(first: int, wind: str) -> str:
    """Some 400 words and 550 word pieces: more than an encoder of 512 reads."""
    weather = ("calm sea", "a grey swell", "rain from the west", "fog at dawn", "whales to port")
    return " ".join(
        f"Day {n}: {weather[n % 5]}, {n * 37 % 101} miles, {wind} force {n * 7 % 11}." for n in range(first, first + 42)
    )


_FERRY = (
    "The ferry leaves the harbour at seven every morning.",
    "The ferry departs from the harbour at seven each morning.",
)
_FERRY_SOURCE = "Die Fähre legt jeden Morgen um sieben im Hafen ab."
_STORM = (
    "The mountain road is closed by a storm.",
    "A storm has blocked the mountain road.",
    "Because of a storm, nobody can take the road over the mountain.",
)
_STORM_SOURCE = "Ein Sturm hat die Bergstraße gesperrt."
_BOAT = "She did not sell the boat, she gave it away."
_RADIO = "Nobody answered the radio."

SEGMENTS: tuple[Segment, ...] = (
    _segment("plain", *_FERRY, source=_FERRY_SOURCE),
    _segment("three references", "A storm has closed the mountain road.", *_STORM, source=_STORM_SOURCE),
    _segment(
        "jumbled", "Road storm the has a mountain closed.", *_STORM, source=_STORM_SOURCE, item="three references"
    ),
    _segment("copy", _BOAT, _BOAT, source="Sie hat das Boot nicht verkauft, sondern verschenkt."),
    _segment("one word", "Yes", "No", source="Ja"),
    _segment("empty hypothesis", "", _RADIO, source="Niemand antwortete am Funk."),
    _segment("blank hypothesis", " \t ", _RADIO, source="Niemand antwortete am Funk."),
    _segment("empty reference", _RADIO, ""),
    _segment("both empty", "", ""),
    _segment("one of two references empty", "The lamp is on.", "", "The light is on.", source="Die Lampe brennt."),
    _segment("punctuation", "?!", "..."),
    _segment(
        "figures and markup",
        "Pi is about 3.14, or 22/7 &amp; a <b>bit</b> less.",
        "Pi is roughly 3.14 (22/7 &amp; a <b>little</b> less).",
    ),
    _segment("emoji", "Great trip 🚢☀️👍🏽", "Great trip! 🚢", source="Tolle Fahrt! 🚢"),
    _segment(
        "no blanks between words", "船は毎朝七時に港を出ます。", "フェリーは毎朝七時に出港する。", source=_FERRY_SOURCE
    ),
    _segment("marks that combine", "Le cafe\u0301 est nai\u0308f.", "Le café est naïf.", source="Das Café ist naiv."),
    _segment("odd line ends", "First line\u2028second line\rthird line", "First line second line third line"),
    _segment("long", _log(1, "wind"), _log(2, "gusts"), source=_log(1, "Wind")),
    _segment("plain again", *_FERRY, source=_FERRY_SOURCE, item="plain"),
)


# --- Whether a metric is declared as it should be, and its scores are what `Scores` says they are


def kind(given: Any, noun: str, declares: type) -> None:
    """A frozen dataclass that declares itself in an `info`: what everything else here relies on."""
    name, info = type(given).__name__, getattr(given, "info", None)
    if not getattr(getattr(type(given), "__dataclass_params__", None), "frozen", False):
        raise AssertionError(f"{name}: a {noun} is an object of a frozen dataclass, whose fields are its options")
    if not isinstance(info, declares):
        raise AssertionError(f"{name}: info is {type(info).__name__}, expected {declares.__name__}")


def declaration(subject: Examined) -> None:
    """A sound `info`; a pooled metric says in its signature over what."""
    metric, info = subject.metric, subject.metric.info
    subject.require(info.range[0] < info.range[1], f"info.range is {info.range}, expected the lower end first")
    if whole(metric).pooled:
        entries = dict(signature_of(metric, subject.runtime).entries)
        subject.require("pool" in entries, "the metric is pooled, but no entry 'pool' of its signature says over what")


def scores(subject: Examined) -> None:
    """Types, direction, signature, range; a NaN has a flag."""
    found, info = subject.base, subject.metric.info
    subject.require(
        found.higher_is_better == info.higher_is_better,
        "Scores.higher_is_better is not what info.higher_is_better says",
    )
    expected = signature_of(subject.metric, subject.runtime)
    subject.require(
        str(found.signature) == str(expected),
        f"Scores.signature is {found.signature}, signature_of(metric, runtime) is {expected}",
    )
    for name, column in found.parts.items():
        subject.require(column.dtype == np.float64, f"part {name!r} is {column.dtype}, expected float64")
    for name, flag in found.flags.items():
        subject.require(flag.dtype == np.bool_, f"flag {name!r} is {flag.dtype}, expected bool")
    flagged = np.logical_or.reduce([np.zeros(len(found), dtype=np.bool_), *found.flags.values()])
    for i in np.flatnonzero(np.isnan(found.values) & ~flagged):
        subject.require(False, f"segment {found.ids[i]!r} scores NaN and no flag says why")
    subject.within_range(found.values, [f"segment {name!r}" for name in found.ids])
    _statistics(subject, found)


def _statistics(subject: Examined, found: Scores) -> None:
    """The statistics sum to the corpus number, over any leading axes and in blocks."""
    stats, half = found.segment_stats, len(found) // 2
    subject.require(
        np.isfinite(stats).all(), "a segment statistic is not finite, so that no sum of them is a corpus number"
    )
    totals = np.stack([stats[:half].sum(axis=0), stats[half:].sum(axis=0), stats.sum(axis=0)])  # (3, k)
    at_once, one_by_one = found.finish(totals[np.newaxis]), [float(found.finish(total)) for total in totals]
    subject.require(
        np.shape(at_once) == (1, 3), f"finish takes totals of shape (1, 3, k) to {np.shape(at_once)}, expected (1, 3)"
    )
    subject.require(
        subject.near(at_once[0], one_by_one, ROUNDING).all(),
        "finish gives other numbers over leading axes than one by one",
    )
    joined = join([found.take(np.arange(half)), found.take(np.arange(half, len(found)))])
    subject.require(
        subject.near(joined.system, one_by_one[2], ROUNDING),
        "the corpus number of two blocks joined is not that of the whole",
    )
    subject.within_range(np.array([found.system]), ["the corpus"])
    if found.stats is None:
        subject.require(found.finish is mean_of_defined, "finish is given without the statistics it is for")


# --- Whether the signature says everything: it rebuilds the metric, and no option is missing from it

_NO_CHOICE = "no such value"


def rebuilds(subject: Examined, metric: Metric, registered: bool) -> None:
    """`ng.metric(signature.spec)` is the metric, with its signature."""
    signature = signature_of(metric, subject.runtime)
    spec, parsed = signature.spec, parse(signature.spec)
    if not registered and isinstance(parsed, Spec):
        rebuilt = construct(type(metric), dict(parsed.options), {}, parsed.name)
    else:
        rebuilt = build(spec)
    subject.require(rebuilt == metric, f"signature.spec {spec!r} rebuilds {rebuilt!r}, expected {metric!r}")
    subject.require(
        str(signature_of(rebuilt, subject.runtime)) == str(signature),
        f"the metric rebuilt from {spec!r} has another signature",
    )


def signed(subject: Examined, alternatives: Mapping[str, Any], registered: bool) -> list[str]:
    """Every option stands in the signature; what leaves the signature as it is leaves the scores as they are.

    Returns:
        The options for which no other valid value was found.
    """
    options = [field.name for field in options_of(subject.metric)]
    strange = sorted(set(alternatives) - set(options))
    subject.require(not strange, f"alternatives names {', '.join(strange)}, expected options: {', '.join(options)}")
    hints, own = typing.get_type_hints(type(subject.metric)), str(signature_of(subject.metric, subject.runtime))
    untried = []
    for name in options:
        others = (
            [alternatives[name]] if name in alternatives else other_values(hints[name], getattr(subject.metric, name))
        )
        changed = list(_changed(subject, name, others))
        if not changed:
            subject.require(
                name not in alternatives,
                f"the alternative {name}={alternatives.get(name)!r} is refused, or is the value already",
            )
            untried.append(name)
        silent = []
        for metric in changed:
            rebuilds(subject, metric, registered)
            if str(signature_of(metric, subject.runtime)) == own:
                silent.append(metric)
                found = metric.score(list(subject.segments), subject.runtime)
                subject.same(
                    subject.base, found, f"{name}={getattr(metric, name)!r} leaves the signature as it is, yet"
                )
        subject.require(
            not changed or len(silent) < len(changed),
            f"the option {name} is not in the signature: no other value changes it",
        )
    return untried


def _changed(subject: Examined, name: str, others: Sequence[Any]) -> Iterator[Metric]:
    """The metric with other values of one option, as far as it takes them and what they name is installed."""
    for other in others:
        try:
            changed = replace(subject.metric, **{name: other})  # type: ignore[type-var]
            signature_of(changed, subject.runtime)
        except NlgaugeError:
            continue
        if changed != subject.metric:
            yield changed


def refused(options: Any, require: Callable[[bool, str], None]) -> None:
    """Every option with a closed list of values refuses a value outside it, as a specification does.

    Args:
        options: a metric, a perturbation, or another dataclass of options.
        require: called with whether a promise is kept, and the sentence that says which.
    """
    hints = typing.get_type_hints(type(options))
    for field in options_of(options):
        if _is_choice(hints[field.name]):
            wrong = f"{field.name}={_NO_CHOICE!r}"
            try:
                replace(options, **{field.name: _NO_CHOICE})
            except SpecError:
                pass
            except Exception as error:
                require(False, f"refuses {wrong} with {type(error).__name__}, expected nlgauge.SpecError")
            else:
                call = "call nlgauge.core.checked(self) in __post_init__"
                require(False, f"takes {wrong}, which its type does not allow; {call}")


def _is_choice(hint: Any) -> bool:
    """Whether a type is a `Literal`, or one of several with nothing beside it but None."""
    kinds = [sort for sort, _ in sorts(hint) if sort is not NoneType]
    return bool(kinds) and all(typing.get_origin(sort) is Literal for sort in kinds)


def other_values(hint: Any, value: Any) -> list[Any]:
    """Other values of an option's type, the likeliest first."""
    kinds = [sort for sort, _ in sorts(hint)]
    found = [other for sort in kinds if sort is not NoneType for other in _others(sort, value)]
    return [*found, None] if NoneType in kinds and value is not None else found


def _others(sort: Any, value: Any) -> list[Any]:
    if typing.get_origin(sort) is Literal:
        return [arg for arg in typing.get_args(sort) if arg != value]
    if sort is bool:
        return [not value] if isinstance(value, bool) else [True, False]
    start = 0 if value is None else value
    if sort not in (int, float) or not isinstance(start, int | float):
        return []
    return [start + 1, start - 1] if sort is int else [start + 1.0, start - 1.0, start / 2, 0.5]


# --- The ends of the scale: a copy of the reference, blank texts, unrelated texts, and segments that lack a need

_FOREIGN = (
    "λόγος ήλιος θάλασσα βουνό",
    "снег хлеб ветер улица",
    "მთა წყალი ხიდი ბაღი",
)  # of one of them a text holds no letter
_TOKEN = re.compile(r"[\u2e80-\U0010ffff]|\w+|[^\w\s]")  # whatever a tokeniser may count as a word
_BLANKS = ("", " \n\t")


def copies(subject: Examined) -> None:
    """For each reference alone: no hypothesis beats its copy; for one at least, the copy beats unrelated text."""
    hypotheses = list(dict.fromkeys(s.hypothesis for s in subject.segments))
    references = {r: s for s in _plain(subject) for r in s.references if r.strip()}
    texts = [[reference, unrelated(reference), *hypotheses] for reference in references]
    asked = [
        replace(s, id=f"{n} {i}", references=(row[0],), hypothesis=text)
        for n, (s, row) in enumerate(zip(references.values(), texts, strict=True))
        for i, text in enumerate(row)
    ]
    found = subject.score(asked)
    values = subject.sign * found.values.reshape(len(references), -1)  # (references, 2 + hypotheses)
    unknown = np.asarray(found.flags.get("unknown", np.zeros(len(asked)))).reshape(values.shape)
    for row, names, unread in zip(values, texts, unknown, strict=True):
        what = f"a copy of {_short(names[0])}"
        subject.require(not np.isnan(row[0]) or bool(unread[0]), f"{what} scores NaN, and has no flag 'unknown'")
        for i in np.flatnonzero(~(np.isnan(row) | (row <= row[0]) | subject.near(row, row[0], ROUNDING))):
            better = f"{_short(names[i])} does better with {subject.sign * row[i]}"
            subject.require(
                False, f"{what} scores {subject.sign * row[0]}, and {better}; if that is meant, say copy_is_best=False"
            )
    told = ~subject.near(values[:, 0], values[:, 1], ROUNDING)
    subject.require(
        told.any(), "a copy of a reference never scores better than text that has nothing in common with it"
    )


def blanks(subject: Examined) -> None:
    """A blank side raises `empty`, and scores no better than unrelated text (or than any, without references).

    Where `info.blank` is NaN, it may have no score instead, and another flag. Unrelated text of which a model knows no
    piece is undefined, and no bound.
    """
    cases = _blank_cases(subject)
    unlike = [other for _, other in cases if other is not None]
    both = [replace(s, hypothesis="", references=("",)) for s in subject.segments[:1] if subject.reads_references]
    asked = [*(blank for blank, _ in cases), *unlike, *both, *subject.segments]
    found = subject.score([replace(s, id=f"asked {i}") for i, s in enumerate(asked)])
    without = np.isnan(found.values) & math.isnan(subject.metric.info.blank or 0.0)  # flagged, as `scores` sees to
    flagged = without | found.flags.get("empty", np.zeros(len(asked), dtype=np.bool_))
    if not without.any():
        subject.require("empty" in found.flags, "no flag 'empty' marks blank hypotheses and references")
    values = subject.sign * found.values
    worst_seen = float(np.nanmin(values[len(asked) - len(subject.segments) :]))
    others = iter(values[len(cases) : len(cases) + len(unlike)])
    for (blank, other), value, flag, none in zip(cases, values, flagged, without, strict=False):
        what = f"segment {blank.id!r} with a blank {'reference' if blank.hypothesis.strip() else 'hypothesis'}"
        subject.require(flag, f"{what} does not raise the flag 'empty'")
        bound = worst_seen if other is None else next(others)
        against = "the worst of the other hypotheses" if other is None else "text that has nothing in common with it"
        holds = value <= bound or np.isnan(bound) or subject.near(value, bound, ROUNDING)
        holds = holds or none or subject.sign * value == subject.metric.info.blank
        subject.require(holds, f"{what} scores {subject.sign * value}, {against} {subject.sign * bound}")
    subject.within_range(found.values, [f"segment {s.id!r} or a variant of it" for s in asked])


def needs(subject: Examined) -> None:
    """A segment without what `info.needs` names is refused, and the refusal names it."""
    for need in sorted(subject.metric.info.needs):
        absent: dict[str, Any] = {need: None if need == "source" else ()}
        lacking = replace(subject.segments[-1], id=f"without {need}", **absent)
        try:
            subject.metric.score([*subject.segments, lacking], subject.runtime)
        except InputError as error:
            subject.require(
                lacking.id in str(error),
                f"a segment without {need} is refused, but {str(error)!r} does not name {lacking.id!r}",
            )
        else:
            subject.require(
                False, f"info.needs names {need}, but a segment without any is scored; see nlgauge.metrics.check_needs"
            )


def unrelated(text: str) -> str:
    """As many words as `text` has, in a script of which it holds no letter.

    Raises:
        InputError: the text mixes the three scripts that words are taken from.
    """
    return _foreign(text, len(text.split()))


def _foreign(text: str, n_words: int) -> str:
    letters = set(text.lower())
    for words in _FOREIGN:
        if not letters & (set(words) - {" "}):
            return " ".join(islice(cycle(words.split()), max(1, n_words)))
    raise InputError(
        f"{_short(text)} mixes Greek, Cyrillic and Georgian, so that no text is certain to be unrelated; leave it out"
        " of the segments"
    )


def _blank_cases(subject: Examined) -> list[tuple[Segment, Segment | None]]:
    """Segments with a blank side, each with the one it may not beat."""
    cases: list[tuple[Segment, Segment | None]] = []
    for s in _plain(subject)[:4]:
        if not subject.reads_references:
            cases += [(replace(s, hypothesis=blank), None) for blank in _BLANKS]
            continue
        # The unrelated text is never longer than the reference in tokens or characters, nor shorter than the
        # hypothesis: else an error rate passes 100 %.
        reference = s.references[0]
        hypothesis = s.hypothesis if s.hypothesis.strip() else reference
        like, longer = unrelated(reference)[: len(reference)], _foreign(hypothesis, len(_TOKEN.findall(hypothesis)))
        s = replace(s, hypothesis=hypothesis, references=(reference,))
        cases += [(replace(s, hypothesis=blank), replace(s, hypothesis=like)) for blank in _BLANKS]
        cases += [(replace(s, references=(blank,)), replace(s, references=(longer,))) for blank in _BLANKS]
    return cases


def _plain(subject: Examined) -> list[Segment]:
    """Segments whose first reference (where the metric reads any) is not blank."""
    if not subject.reads_references:
        return subject.segments
    found = [s for s in subject.segments if s.references and s.references[0].strip()]
    subject.require(found, "the segments hold no reference that is not blank, so a copy cannot be tried")
    return found


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


# --- Checks that order, batches, repetition, company, unread fields and the score cache change no score

BUDGETS = (1, 64, 1 << 20)  # tokens at once: a text a batch, a few, all


def calls(subject: Examined) -> None:
    """Scoring again, in other orders, and in batches of another size: at once, and apart where that moves a score."""
    places = np.arange(len(subject.segments), dtype=np.int64)
    # backwards alone leaves the middle, and ends that are alike
    orders = places, np.roll(places, 1 + len(places) // 3), places[::-1]
    try:
        for order, budget in zip(orders, BUDGETS, strict=True):
            subject.same(subject.base, _ordered(subject, order, budget), "another order or token budget")
    except AssertionError:
        _apart(subject, orders)
        raise


def _apart(subject: Examined, orders: Sequence[Counts]) -> None:
    """Each change alone, so that the sentence names it."""
    subject.same(subject.base, subject.score(subject.segments), "scoring again")
    for order in orders[1:]:
        subject.same(subject.base, _ordered(subject, order), "the order of the segments")
    for budget in BUDGETS:
        subject.same(subject.base, _ordered(subject, orders[0], budget), f"a token budget of {budget}")


def _ordered(subject: Examined, order: Counts, budget: int | None = None) -> Scores:
    """Scores of the segments in another order, put back into their own."""
    runtime = subject.runtime if budget is None else replace(subject.runtime, token_budget=budget)
    return subject.score([subject.segments[i] for i in order], runtime).take(np.argsort(order))


def company(subject: Examined) -> None:
    """Each segment alone, every segment twice, and none at all."""
    alone = join([subject.score([segment]) for segment in subject.segments])
    try:
        subject.same(alone, subject.base, "the company of the other segments")
    except AssertionError as error:
        raise AssertionError(
            f"{error}; a metric whose scores depend on the call by definition says so by pooled = True"
        ) from None
    n = len(subject.segments)
    twice = subject.score([replace(s, id=f"{s.id} {time}") for time in ("once", "again") for s in subject.segments])
    for start in (0, n):
        subject.same(
            subject.base,
            replace(twice.take(np.arange(start, start + n)), ids=subject.base.ids),
            "having every segment twice",
        )
    nothing = subject.score([])
    subject.require(
        list(nothing.parts) == list(subject.base.parts), "an empty list of segments gives other parts than a full one"
    )


def undeclared(subject: Examined) -> None:
    """Leaving out everything that `info.needs` does not name: ids, systems, ratings, other texts."""
    needs = sorted(subject.metric.info.needs)
    bare = [
        Segment(f"bare {i}", s.hypothesis, **{need: getattr(s, need) for need in needs})
        for i, s in enumerate(subject.segments)
    ]
    found = replace(subject.score(bare), ids=subject.base.ids)
    subject.same(subject.base, found, f"leaving out what info.needs ({', '.join(needs) or 'nothing'}) does not name")


def cache(subject: Examined) -> None:
    """Into the score cache and out of it."""
    with tempfile.TemporaryDirectory() as folder:
        store = ScoreCache(Path(folder) / "scores.sqlite")
        runtime = replace(subject.runtime, cache=store)
        try:
            for change in ("going through the score cache", "coming back from the score cache"):
                found = score_segments({"metric": whole(subject.metric)}, subject.segments, runtime)["metric"]
                subject.same(subject.base, found, change)
                subject.require(
                    subject.near(found.system, subject.base.system, ROUNDING), f"{change} changes the corpus number"
                )
        finally:
            store.close()


# --- The contract of a metric as one call

POOL_TOLERANCE = 1e-9  # a mean over the pool adds float64 numbers in another order
# float32 keeps 24 bits (6e-8), and a matrix product of another shape adds in another order: some ten roundings
MODEL_TOLERANCE = 1e-6


def check_metric(
    metric: Metric | Callable[..., Any],
    segments: Sequence[Segment] | None = None,
    runtime: Runtime | None = None,
    *,
    alternatives: Mapping[str, Any] | None = None,
    tolerance: float | None = None,
    registered: bool = True,
) -> None:
    """Check what nlgauge promises of every metric.

    - Order, batch size, repetition, duplicates and company (the other segments of the call) change no value, part, flag
      or statistic; an empty list gives empty scores. Of a `pooled` metric duplicates, company and the empty list are
      not checked.
    - Scores depend on the hypothesis and on what `info.needs` declares, and on nothing else in a segment, since the
      score cache relies on that.
    - Values lie in `info.range`; a NaN is flagged; statistics sum to the corpus number under `finish`.
    - A blank hypothesis or reference raises the flag `empty`, and scores no better than unrelated text, unless
      `info.blank` fixes its value, or is NaN and the score, too. What two blank texts score is up to the metric, but it
      must not fail.
    - A copy of the reference scores no worse than any other hypothesis, and better than unrelated text, unless
      `info.copy_is_best` is False.
    - A segment without what the metric needs is refused by an `InputError` that names it.
    - An option whose type is a `Literal` refuses any other value with a `SpecError`, also when it is given in Python.
    - The signature rebuilds an equal metric, and shows every option (see `check_options`).
    - Scores that come back from the score cache equal those that were stored. The segments given are not changed.

    Args:
        metric: an object or a function, not a specification.
        segments: the segments to score; None takes `SEGMENTS`. There must be at least two, one with a reference that
            is not blank.
        runtime: None is the default runtime.
        alternatives: option -> another valid value, for options whose type does not tell one (see `check_options`).
        tolerance: how much two scores of one segment may differ, relative to values above 1. None is 0 where no model
            makes the scores (`info.cached` is False: counting gives the same number every time), `MODEL_TOLERANCE`
            where one does, and `POOL_TOLERANCE` where the metric is pooled. A sum with a model needs one.
        registered: False rebuilds from the metric's class, for a metric that no installed entry point names yet.

    Raises:
        AssertionError: a sentence that names the metric, the promise and the segment.
    """
    if inspect.isroutine(metric):
        with _known(metric) as own:
            return check_metric(own, segments, runtime, alternatives=alternatives, tolerance=tolerance)
    metric = cast(Metric, metric)  # which the next line finds out
    subject = _subject(metric, segments, runtime, tolerance)
    declaration(subject)
    scores(subject)
    refused(metric, subject.require)
    calls(subject)
    if not whole(metric).pooled:
        company(subject)
        undeclared(subject)
        if metric.info.cached:
            cache(subject)
    needs(subject)
    blanks(subject)
    if metric.info.copy_is_best and subject.reads_references:
        copies(subject)
    rebuilds(subject, metric, registered)
    signed(subject, alternatives or {}, registered)


@contextmanager
def _known(function: Callable[..., Any]) -> Iterator[Metric]:
    """A function as a metric whose name specifications know meanwhile."""
    name = own_function(function, str(function))
    try:
        yield named_metric(name)
    finally:
        del METRICS.entries[name]


def check_options(
    metric: Metric,
    segments: Sequence[Segment] | None = None,
    runtime: Runtime | None = None,
    *,
    alternatives: Mapping[str, Any] | None = None,
    tolerance: float | None = None,
    registered: bool = True,
) -> list[str]:
    """Check that the signature shows every option: another value changes the signature, unless it means the same.

    The other value is derived from the type of the option: the other boolean, the other values of a `Literal`, a
    number one up, one down or halved. A value that the metric refuses is passed over. For text and other types,
    `alternatives` gives the value.

    Returns:
        The options for which no other valid value was found: give these in `alternatives`, or try them on a metric
        that takes them.

    Raises:
        AssertionError: names the option and the value.
    """
    return signed(_subject(metric, segments, runtime, tolerance), alternatives or {}, registered)


def _subject(
    metric: Metric, segments: Sequence[Segment] | None, runtime: Runtime | None, tolerance: float | None
) -> Examined:
    kind(metric, "metric", MetricInfo)
    if tolerance is None:
        tolerance = MODEL_TOLERANCE if metric.info.cached else POOL_TOLERANCE if whole(metric).pooled else 0.0
    return Examined(metric, list(SEGMENTS if segments is None else segments), runtime or Runtime(), tolerance)
