r"""The grammar of metric specifications: `name:option=value,...`, and weighted sums of such.

spec   := name [":" (option | model) ("," option)*]
option := key "=" value                      value bare, or quoted
model  := value                              quoted, or bare with "-" or "/"; in short for model=value
sum    := term ("+" term)* ["[norm=" norm "]"]
term   := weight "*" (spec | "(" sum ")")
norm   := "minmax" | "zscore" | "none" | "file(" quoted ")"
quoted := text in double quotes. " is a quote, \ a backslash and ü an ü, as in JSON;
          any other backslash is itself.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

from nlgauge.core.errors import SpecError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?:\+\+)?")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BARE = re.compile(r"[^,\"\s\[\]()\x00\ud800-\udc7f\udd00-\udfff]+")
NOWHERE = re.compile("[\x00\ud800-\udc7f\udd00-\udfff]")  # no name of a file or column holds them
_MODEL = re.compile(r"[A-Za-z.~/][^,\"\s=()\[\]]*[-/][^,\"\s=()\[\]]*(?=[,\s)\[]|$)")
_WEIGHT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NORM = re.compile(r"(minmax|zscore|none|file)")
_QUOTED = re.compile(r'"((?:\\.|[^"\\])*)"', re.DOTALL)
_ESCAPES = re.compile(r'(?:\\(?:["\\]|u[0-9A-Fa-f]{4}))+')  # runs, since two escapes may be the halves of a character
# What is written as an escape: control characters and line ends, so that a specification is one line of any table, and
# lone surrogates, which stand for the bytes of a file's name that is no UTF-8 and which no file can hold.
_ESCAPED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LONGEST = 100_000  # characters of a specification
_DEEPEST = 10  # brackets within brackets; what is made of a specification is nested as deeply
_SHOWN = 200  # characters of it that an error repeats
_LIST_MARK = re.compile(f"{_QUOTED.pattern}|[()\\[\\],]", re.DOTALL)
_OPTION_FOLLOWS = re.compile(r"\s*[A-Za-z_][A-Za-z0-9_]*=")
_TERM_FOLLOWS = re.compile(r"\s*\+\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*\*")


@dataclass(frozen=True, slots=True)
class Spec:
    """A specification of one metric: its name, and its options as typed."""

    name: str
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.name + (":" if self.options else "") + ",".join(f"{k}={quote(v)}" for k, v in self.options)


@dataclass(frozen=True, slots=True)
class Sum:
    """A weighted sum of metrics, each first brought to a common scale by `norm`."""

    terms: tuple[tuple[float, Spec | Sum], ...]
    norm: str = "minmax"

    def __str__(self) -> str:
        terms = " + ".join(
            f"{weight_text(weight)}*" + (f"({part})" if isinstance(part, Sum) else str(part))
            for weight, part in self.terms
        )
        return terms + ("" if self.norm == "minmax" else f"[norm={self.norm}]")


def quote(value: str) -> str:
    """The value as the grammar reads it back: bare if possible, in double quotes if necessary."""
    if _BARE.fullmatch(value) and not _TERM_FOLLOWS.search(value) and not _ESCAPED.search(value):
        return value
    return quote_always(value)


def quote_always(value: str) -> str:
    """The value in double quotes, with backslashes, quotes, control characters and lone surrogates escaped."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'


def unquote(text: str) -> str:
    """The value of a text in double quotes, as the grammar reads it."""
    reader = _SpecReader(text)
    value = reader.quoted()
    if reader.pos < len(text):
        reader.fail("the end")
    return value


def weight_text(weight: float) -> str:
    """The shortest text that is read back as exactly this weight: 0.3, 2, 1e+16."""
    return repr(float(weight)).removesuffix(".0")


def parse(text: str) -> Spec | Sum:
    """Read a specification. An error quotes a text that does not follow the grammar, and says where and why."""
    if len(text) > _LONGEST:
        raise SpecError(f"a metric specification of {len(text)} characters, expected {_LONGEST} at most")
    reader = _SpecReader(text)
    reader.blanks()
    parsed = reader.whole()
    reader.blanks()
    if reader.pos < len(text):
        if isinstance(parsed, Spec) and reader.peek() == "+":
            raise SpecError(f"{_shown(text)}: a sum needs a weight before every metric, as in '0.5*bleu + 0.5*chrf'")
        if isinstance(parsed, Spec) and reader.peek() == "(":
            raise SpecError(f"{_shown(text)}: options stand behind a colon, as in 'chrf:beta=1', and not in brackets")
        unquoted = isinstance(parsed, Spec) and parsed.options
        reader.fail("the end, or double quotes around a whole value," if unquoted else "the end")
    return parsed


def split(text: str) -> list[str]:
    """The specifications of a list with commas: `bleu,chrf:word_order=2` are two, `chrf:beta=1,word_order=2` is one."""
    parts, start, depth = [], 0, 0
    for mark in _LIST_MARK.finditer(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(mark.group(), 0)
        if mark.group() == "," and not depth and not _OPTION_FOLLOWS.match(text, mark.end()):
            parts.append(text[start : mark.start()].strip())
            start = mark.end()
    parts.append(text[start:].strip())
    return parts if len(parts) > 1 and all(parts) else [text]


def _shown(text: str) -> str:
    """A specification as an error repeats it."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}..."


class _SpecReader:
    def __init__(self, text: str) -> None:
        self.text, self.pos, self.depth = text, 0, 0

    def fail(self, expected: str) -> None:
        rest = self.text[self.pos : self.pos + 20]
        found = repr(rest) if rest else "the end"
        raise SpecError(
            f"metric specification {_shown(self.text)}: expected {expected} at character {self.pos + 1}, found {found}"
        )

    def peek(self) -> str:
        return self.text[self.pos : self.pos + 1]

    def blanks(self) -> None:
        while self.peek().isspace():
            self.pos += 1

    def at(self, pattern: re.Pattern[str]) -> bool:
        return pattern.match(self.text, self.pos) is not None

    def take(self, pattern: re.Pattern[str], expected: str) -> str:
        match = pattern.match(self.text, self.pos)
        if match is None:
            self.fail(expected)
            raise AssertionError  # fail always raises
        self.pos = match.end()
        return match.group()

    def literal(self, char: str) -> None:
        if self.peek() != char:
            self.fail(repr(char))
        self.pos += 1

    def bracket(self) -> None:
        self.pos += 1
        self.depth += 1
        if self.depth > _DEEPEST:
            raise SpecError(f"metric specification {_shown(self.text)}: more than {_DEEPEST} brackets within brackets")
        self.blanks()

    def closing(self) -> None:
        self.blanks()
        self.literal(")")
        self.depth -= 1

    def whole(self) -> Spec | Sum:
        return self.sum() if self.at(_WEIGHT) or self.peek() == "(" else self.spec()

    def spec(self) -> Spec:
        name = self.take(_NAME, "a metric name")
        options: list[tuple[str, str]] = []
        if self.peek() == ":":
            self.pos += 1
            alone = self.bare if self.at(_MODEL) else self.quoted if self.peek() == '"' else None
            options.append(self.option() if alone is None else ("model", alone()))
            while self.peek() == ",":
                self.pos += 1
                options.append(self.option())
        seen: set[str] = set()
        for key, _ in options:
            if key in seen:
                raise SpecError(f"metric specification {_shown(self.text)}: option {key!r} is given twice")
            seen.add(key)
        return Spec(name, tuple(options))

    def option(self) -> tuple[str, str]:
        self.blanks()
        key = self.take(_KEY, "an option, key=value")
        self.literal("=")
        if self.peek() == '"':
            return key, self.quoted()
        return key, self.bare()

    def bare(self) -> str:
        match = _BARE.match(self.text, self.pos)
        if match is None:
            self.fail("a value")
            raise AssertionError
        value = match.group()
        joined = _TERM_FOLLOWS.search(value)  # "layer=4+0.7*bleu": the sum goes on inside what looks like one word
        if joined:
            value = value[: joined.start()]
        self.pos += len(value)
        return value

    def quoted(self) -> str:
        match = _QUOTED.match(self.text, self.pos)
        if match is None:
            self.literal('"')
            self.pos = len(self.text)
            self.fail('a closing "')
            raise AssertionError
        value = _ESCAPES.sub(lambda run: json.loads(f'"{run[0]}"'), match[1])
        if NOWHERE.search(value):
            self.fail("a name that a file may have")
        self.pos = match.end()
        return value

    def sum(self) -> Sum:
        terms = [self.term()]
        self.blanks()
        while self.peek() == "+":
            self.pos += 1
            terms.append(self.term())
            self.blanks()
        return Sum(tuple(terms), self.norm() if self.peek() == "[" else "minmax")

    def term(self) -> tuple[float, Spec | Sum]:
        self.blanks()
        weight = float(self.take(_WEIGHT, "a weight, as in 0.3*bleu"))
        if not math.isfinite(weight):
            raise SpecError(f"metric specification {_shown(self.text)}: a weight is too large for a number")
        self.blanks()
        self.literal("*")
        self.blanks()
        if self.peek() == "(":
            self.bracket()
            inner = self.sum()
            self.closing()
            return weight, inner
        return weight, self.spec()

    def norm(self) -> str:
        self.literal("[")
        for char in "norm=":
            self.literal(char)
        norm = self.take(_NORM, 'minmax, zscore, none or file("bounds.json")')
        if norm == "file":
            self.literal("(")
            norm = f"file({quote_always(self.quoted())})"
            self.literal(")")
        self.literal("]")
        return norm


# --- Signatures: one string that names everything that could change a score, and nothing else


@dataclass(frozen=True, slots=True)
class Signature:
    """The settings behind a score: the metric, its options, the values these resolved to, and versions.

    Attributes:
        spec: the specification from which `ng.metric(signature.spec)` makes the metric again.
        entries: pairs (name, value) in order. `str(signature)` joins them as `name:value|name:value`.

    References:
        Post (2018), "A Call for Clarity in Reporting BLEU Scores", for the idea and the form.
    """

    spec: str
    entries: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "|".join(f"{key}:{value}" for key, value in self.entries)


def with_documents(signature: Signature, texts: Iterable[str]) -> Signature:
    """The signature with a digest of the texts that frequencies were taken from; their order does not matter."""
    return with_digest(signature, documents_digest(sorted(texts)))


def with_digest(signature: Signature, digest: str) -> Signature:
    """The same of a digest that is known."""
    *entries, version_of = signature.entries
    return Signature(signature.spec, (*entries, ("documents", f"sha256:{digest}"), version_of))


def documents_digest(texts: Iterable[str]) -> str:
    """The digest of texts in the order of their code points."""
    digest = sha256()
    for place, text in enumerate(texts):
        digest.update(("\0" * bool(place) + text).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def together(signatures: Sequence[Signature]) -> Signature:
    """The signature of scores of one metric that were made in parts, each with frequencies of its own.

    Its digest of documents is that of the digests of all parts; a single digest stays as it is.
    """
    first, parts = signatures[0], [dict(one.entries).get("documents") for one in signatures]
    if None in parts or len(set(parts)) == 1:
        return first
    digest = sha256("\0".join(sorted(str(part) for part in parts)).encode()).hexdigest()[:16]
    entries = ((key, f"sha256:{digest}" if key == "documents" else value) for key, value in first.entries)
    return Signature(first.spec, tuple(entries))


# --- Which model a number is of, as its signature says

# Our encoders -> the start of the SHA-256 of their weights, and what others call them.
_ENCODERS = {
    "embedded": ("sha256:53aa51172d142c89", "all-MiniLM-L6-v2"),
    "base": ("sha256:78c0197b6159d926", "all-mpnet-base-v2"),
    "multilingual": ("sha256:9c373fdc1c25fc02", "multilingual-e5-small in four bits"),
}
# Metrics whose name means a number of another model elsewhere -> what to say of one of an encoder that reads English.
_MEANT = {
    "bertscore": "{}; bert-score means roberta-large, here paper/bertscore",
    "sescore": "our head, not the authors'",
}
_METRIC = re.compile(r"(?:^|\|[^|]*\()metric:")  # where the signature of a metric begins, and in a sum that of a term


def models_of(metric: Mapping[str, Any]) -> dict[str, str]:
    """Metric -> the model that its numbers are of, and which one its name means elsewhere; a sum has one for each term.

    It is what the specification does not say; empty for a metric without a model.
    """
    _, whole, *terms = *_METRIC.split(str(metric.get("signature", ""))), ""
    said = _model_of(whole)
    if said is not None:
        return {} if said in metric["spec"] else {metric["spec"]: said}
    return {term.partition("|")[0]: said for term in terms if (said := _model_of(term))}


def model_line(metrics: Iterable[Mapping[str, Any]]) -> str:
    """One line that says which models the numbers of these metrics are of; empty where they have none."""
    alike: dict[str, dict[str, None]] = {}
    for metric in metrics:
        for name, said in models_of(metric).items():
            alike.setdefault(said, {})[name] = None
    return ". ".join(f"{', '.join(names)}: {said}" for said, names in alike.items())


def _model_of(signature: str) -> str | None:
    """What is said of the model of a metric, of whose signature the first word is left out; None if it has none.

    It is empty for a model in a file or a folder, which only its specification names.
    """
    name, *entries = signature.split("|")
    known = dict(entry.partition(":")[::2] for entry in reversed(entries))
    model = known.get("model", known.get("encoder"))
    called = (each for own, (weights, each) in _ENCODERS.items() if model == own or known.get("weights") == weights)
    encoder, is_named = next(called, None), model not in ("file", "folder")
    if model is None or encoder is None:
        return model if is_named else ""
    if is_named and name in _MEANT and model != "multilingual":
        return _MEANT[name].format(encoder)
    return f"{'our' if is_named else 'a'} head on {encoder}" if "head" in known else encoder


@cache
def version(package: str) -> str:
    """The installed version of a distribution, read without importing it."""
    from importlib import metadata  # a tenth of the start of `nlgauge --help`

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


# --- The release of this package, as it is installed

__version__ = version("nlgauge")
