"""Stratified synthesis: texts with errors made on purpose, and how bad each error is."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.metric import show
from nlgauge.core.options import Range, Typed, checked
from nlgauge.core.result import Result
from nlgauge.core.segment import frame_texts as texts_of
from nlgauge.core.segment import is_blank
from nlgauge.core.spec import Signature, version
from nlgauge.models.infill import Filler, Gap, Infill
from nlgauge.perturbations.draft import with_case_of
from nlgauge.perturbations.perturb import Edit, stream
from nlgauge.perturbations.severity import JUDGE, MAJOR, MINOR, EntailmentJudge, Kind, LexiconInfill
from nlgauge.perturbations.severity import severity as rated_by
from nlgauge.runtime.runtime import Advance, Runtime, silent
from nlgauge.text.languages import language
from nlgauge.text.tokenize import unit_spans, writes_no_blanks

if TYPE_CHECKING:
    from nlgauge.io.write import Journal

Operation = Literal["insert", "delete", "replace", "swap"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
# Far outside this range, drawing again until the number fits would hardly end.
_Mean = Annotated[float, Range(least=0.01, most=100, meaning="the mean of a Poisson distribution")]
_Count = Annotated[int, Range(least=1)]


@dataclass(frozen=True, kw_only=True)
class Draws:
    """The distributions of stratified synthesis. What is drawn is a proposal, which the stratum may refuse.

    Tokens are words with their clitics and hyphens, and marks. Scripts without blanks are cut as far as possible
    without a dictionary: Han and kana per character; Thai, Lao, Burmese and Khmer per cluster. Blanks are set as a
    writer would set them: none before an inserted comma, and no two where a word was deleted.

    Attributes:
        operations: the kinds of edits; each is drawn equally often.
        edits: the mean of the Poisson distribution of the number of edits, drawn again until it is 1 to `max_edits`
            (lambda_e).
        max_edits: the largest number of edits of a text (M_max).
        span: the mean of the Poisson distribution of how many tokens are deleted or replaced, drawn again until it is
            above 0 (lambda_d, lambda_r).
        swap_window: two tokens that change places are 1 to this many tokens apart; all distances are proposed equally
            often, and the far ones are refused more often (lambda_s).
        top_k: one of this many best fitting words is drawn; all are equally likely.

    References:
        Xu et al. (2022), "Not All Errors are Equal: Learning Text Generation Metrics using Stratified Error
        Synthesis", section 3.2 and appendix. The paper does not say what happens to a draw of 0 edits. The released
        code draws 1 + Poisson(1.5) cut at 5 (mean 2.4); here it is Poisson(5) drawn again (mean 3.6).
    """

    operations: Annotated[
        tuple[Operation, ...], Typed("Some of insert, delete, replace, swap, with commas.", metavar="LIST")
    ] = OPERATIONS
    edits: _Mean = 5.0
    max_edits: _Count = 5
    span: _Mean = 1.5
    swap_window: _Count = 4
    top_k: _Count = 4

    def __post_init__(self) -> None:
        for name in self.operations:
            if name not in OPERATIONS:
                raise SpecError(
                    f"operations has {name!r}, expected some of {', '.join(OPERATIONS)}{nearest(str(name), OPERATIONS)}"
                )
        if not self.operations or len(set(self.operations)) < len(self.operations):
            raise SpecError(
                f"operations is {','.join(self.operations) or 'empty'}, expected some of {', '.join(OPERATIONS)}, each"
                " once"
            )
        checked(self)
        if self.edits > 4 * self.max_edits + 10:
            raise SpecError(
                f"edits is {self.edits} with max_edits {self.max_edits}: hardly a draw would be kept; lower edits or"
                " raise max_edits"
            )

    def count(self, rng: random.Random) -> int:
        """How many edits a text gets, 1 to `max_edits`."""
        while not 1 <= (drawn := _poisson(self.edits, rng)) <= self.max_edits:
            pass
        return drawn

    def length(self, rng: random.Random) -> int:
        """How many tokens are deleted or replaced, 1 or more."""
        while not (drawn := _poisson(self.span, rng)):
            pass
        return drawn

    def distance(self, rng: random.Random) -> int:
        """How far two tokens that change places are apart, 1 to `swap_window`."""
        return rng.randint(1, self.swap_window)


def _poisson(mean: float, rng: random.Random) -> int:
    """One draw, by walking up the distribution function."""
    left, drawn = rng.random(), 0
    term = math.exp(-mean)
    while left >= term and term > 0.0:
        left -= term
        drawn += 1
        term *= mean / drawn
    return drawn


# --- One text on its way from stratum to stratum: what is proposed, refused, asked for and done

_TRIES = 500  # draws of one operation before another is taken; in 80 tokens a single free place is met with 0.99
_REFUSALS = 8  # of one operation by the filler before another is taken
_HALVES = frozenset('()[]{}<>«»“”„‘"`')
_LEAST: dict[Operation, int] = {"insert": 0, "delete": 1, "replace": 1, "swap": 2}  # tokens in a run


@dataclass(frozen=True)
class Step:
    """One edit that was made.

    Attributes:
        text: the text after it.
        operation: insert, delete, replace or swap.
        edit: `(start, end, new)` in offsets of the text before it.
        span: tokens that came in (insert) or went away (delete, replace); how far the two are apart (swap).
        model: what the words came from; None where none were needed.
        severity: -1 to -5; NaN until it is rated.
    """

    text: str
    operation: Operation
    edit: Edit
    span: int
    model: str | None
    severity: float


class Walk:
    """The edits of one text, drawn one by one.

    `ask` goes on until words are needed and says for what; `answer` takes them. So the gaps of many texts can be filled
    together, while the draws of each are its own.

    Args:
        text: with two words or more.
        draws: the distributions.
        fillers: name of each filler -> whether it may give several words, so that a replacement may take away several.
            Of several fillers one is drawn for each insertion and replacement.
        rng: the draws of this text alone.

    Attributes:
        filler: the name of the filler that is asked for words.
        wanted: how many edits were drawn; fewer are made where no room is left.
        made: the edits so far.
    """

    def __init__(self, text: str, draws: Draws, fillers: Mapping[str, bool], rng: random.Random) -> None:
        self._draws, self._fillers, self._rng = draws, fillers, rng
        self.filler = next(iter(fillers))
        self._stratum, self._text = Stratum(text), text
        self._refused: dict[Operation, int] = {}
        self._pending: tuple[Operation, int, int] | None = None
        self.wanted = draws.count(rng)
        self.made: list[Step] = []

    @property
    def asked_for(self) -> int:
        """How many fillers an answer should hold: one may be what stands there already, others the marks beside it."""
        return self._draws.top_k + 3

    def ask(self) -> Gap | None:
        """The next gap to be filled, after all edits that need no words; None when the text is done."""
        while len(self.made) < self.wanted:
            proposal = self._propose()
            if proposal is None:
                return None
            operation, start, span = proposal
            if operation in ("insert", "replace"):
                self._pending = proposal
                return Gap(self._text, *self._stratum.place(start, span))
            edit = self._stratum.delete(start, span) if operation == "delete" else self._stratum.swap(start, span - 1)
            self._keep(operation, edit, span - (operation == "swap"), None)
        return None

    def answer(self, fillers: Sequence[Filler]) -> None:
        """Take one of the words that fit best; without any, `ask` draws something else.

        Rejected are fillers that repeat the text they would replace, have no visible character, put a mark next to the
        same mark, or are a bracket or a quote without its other half.
        """
        assert self._pending is not None
        (operation, start, span), self._pending = self._pending, None
        first, last = self._stratum.place(start, span)
        old = self._text[first:last].casefold()
        beside = self._stratum.beside(start, start + span)
        offered = [" ".join(filler.word.split()) for filler in fillers]
        seen = [word for word in offered if any(map(str.isprintable, word.replace(" ", "")))]
        marks = {word for word in seen if is_mark(word) and (word in beside or not _HALVES.isdisjoint(word))}
        fit = [word for word in seen if word.casefold() != old and word not in marks][: self._draws.top_k]
        if not fit:
            self._refused[operation] = self._refused.get(operation, 0) + 1
            return
        word = self._rng.choice(fit)
        before = len(self._stratum)
        edit = self._stratum.replace(start, span, word) if span else self._stratum.insert(start, word)
        self._keep(operation, edit, span or len(self._stratum) - before, self.filler)

    def _propose(self) -> tuple[Operation, int, int] | None:
        """An operation with the token it starts behind and the number of tokens it takes.

        It is drawn until the stratum accepts; None if the stratum accepts none.
        """
        willing = (o for o in self._draws.operations if self._refused.get(o, 0) < _REFUSALS)
        among = [o for o in willing if self._stratum.has_room(_LEAST[o])]
        while among:
            operation = self._rng.choice(among)
            if len(self._fillers) > 1 and operation in ("insert", "replace"):
                self.filler = self._rng.choice(list(self._fillers))
            for _ in range(_TRIES):
                start, span = self._rng.randrange(len(self._stratum)), self._span(operation)
                if self._stratum.accepts(start, span) and self._leaves_sense(operation, start, span):
                    return operation, start, span
            among.remove(operation)
        return None

    def _span(self, operation: Operation) -> int:
        if operation == "insert":
            return 0
        if operation == "swap":
            return self._draws.distance(self._rng) + 1
        return self._draws.length(self._rng) if operation == "delete" or self._fillers[self.filler] else 1

    def _leaves_sense(self, operation: Operation, start: int, span: int) -> bool:
        """Whether two tokens that change places differ, and some word is left where words go away."""
        tokens = self._stratum.tokens
        if operation == "swap":
            return tokens[start] != tokens[start + span - 1]
        return operation != "delete" or not all(is_mark(t) for t in (*tokens[:start], *tokens[start + span :]))

    def _keep(self, operation: Operation, edit: Edit, span: int, filler: str | None) -> None:
        self._text = self._stratum.text
        self._refused.clear()
        self.made.append(Step(self._text, operation, edit, span, filler, math.nan))


# --- A text between two edits of stratified synthesis: its tokens, and the table of what may still be edited


class Stratum:
    """The text as it stands after some edits.

    Every operation edits it in place, and no operation touches what an earlier one has touched.

    Positions are counted as in the paper: tokens are numbered from 1, and an operation starts after token `start`,
    where 0 is the start of the text. The paper's array has no entry for the start, so its first token could never be
    edited.

    Attributes:
        tokens: the tokens of the text, without blanks, length L.
        blanks: the blanks before each token and after the last, length L + 1.
        room: `room[j]` tokens after token j may still be edited in one run, length L + 1; `room[0]` belongs to the
            start of the text.

    References:
        Xu et al. (2022), section 3.2 and algorithm 1: `room[1:]` is its array q.
    """

    def __init__(self, text: str) -> None:
        spans = unit_spans(text)
        edges = [0, *(place for span in spans for place in span), len(text)]
        self.tokens: list[str] = [text[start:end] for start, end in spans]
        self.blanks: list[str] = [text[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2)]
        self.room: list[int] = list(range(len(spans), -1, -1))

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def text(self) -> str:
        """The tokens with their blanks."""
        return self._between(0, len(self.tokens))

    def accepts(self, start: int, span: int) -> bool:
        """Whether a run of `span` tokens behind token `start` touches no earlier edit.

        A span of 0 is a place for an insertion.
        """
        return self.room[start] > 0 and self.room[start] >= span

    def has_room(self, span: int) -> bool:
        """Whether a run of so many tokens is accepted anywhere."""
        return max(self.room) >= max(span, 1)

    def place(self, start: int, span: int) -> tuple[int, int]:
        """Offsets of the run of tokens behind token `start`; of a span of 0, the place before the next token twice."""
        first = len(self._between(0, start))
        return first, first + (len(self._inside(start, start + span)) if span else 0)

    def beside(self, first: int, last: int) -> tuple[str, str]:
        """The tokens around a run, empty at the ends of the text."""
        return self.tokens[first - 1] if first else "", self.tokens[last] if last < len(self.tokens) else ""

    def insert(self, start: int, phrase: str) -> Edit:
        """Put a phrase behind token `start`."""
        tokens, inner = _parted(phrase)
        self._touch(start)
        self.room[start + 1 : start + 1] = [0] * len(tokens)
        before, behind = _around_insertion(*self.beside(start, start), tokens, self.blanks[start])
        return self._rewrite(start, start, tokens, [before, *inner, behind])

    def replace(self, start: int, span: int, phrase: str) -> Edit:
        """Put a phrase in the place of `span` tokens behind token `start`."""
        tokens, inner = _parted(phrase)
        self._touch(start)
        self.room[start + 1 : start + 1 + span] = [0] * len(tokens)
        end = start + span
        old = self.tokens[start:end]
        blanks = self.blanks[start], self.blanks[end]
        before, behind = _around_replacement(*self.beside(start, end), tokens, old, *blanks)
        return self._rewrite(start, end, tokens, [before, *inner, behind])

    def delete(self, start: int, span: int) -> Edit:
        """Take away `span` tokens behind token `start`."""
        self._touch(start)
        del self.room[start + 1 : start + 1 + span]
        end = start + span
        blank = _behind_deletion(*self.beside(start, end), self.blanks[start], self.blanks[end])
        return self._rewrite(start, end, [], [blank])

    def swap(self, start: int, distance: int) -> Edit:
        """Let the token behind token `start` change places with the one `distance` further on."""
        self._touch(start)
        other = start + distance
        self.room[start + 1] = 0
        for i in range(start + 2, other + 1):
            self.room[i] = min(other - i, self.room[i])
        self.room[other + 1] = 0
        old = self.tokens[start : other + 1]
        new = [old[-1], *old[1:-1], old[0]]
        left, right = self.beside(start, other + 1)
        blanks = _exchanged(left, right, old, new, self.blanks[start : other + 2])
        return self._rewrite(start, other + 1, new, blanks)

    def _touch(self, start: int) -> None:
        """No run that begins before an edit reaches into it."""
        for i in range(start + 1):
            self.room[i] = min(start - i, self.room[i])

    def _rewrite(self, first: int, last: int, tokens: Sequence[str], blanks: Sequence[str]) -> Edit:
        """Put tokens and the blanks around them in the place of those from `first` up to `last`.

        Returns:
            The change in offsets of the text before; blanks at its ends that stay are no part of it.
        """
        begin = len(self._between(0, first)) - len(self.blanks[first]) if first else 0
        old, head, tail = self._between(first, last), self.blanks[first], self.blanks[last]
        self.tokens[first:last] = tokens
        self.blanks[first : last + 1] = blanks
        new = self._between(first, first + len(tokens))
        most = min(len(old), len(new))
        front = _common(old, new, min(len(head), len(blanks[0]), most))
        back = _common(old[::-1], new[::-1], min(len(tail), len(blanks[-1]), most - front))
        return Edit(begin + front, begin + len(old) - back, new[front : len(new) - back])

    def _between(self, first: int, last: int) -> str:
        """The text from the blanks before token `first`, counted from 0, to those before token `last`, inclusive."""
        parts = [part for pair in zip(self.blanks[first:last], self.tokens[first:last], strict=True) for part in pair]
        return "".join([*parts, self.blanks[last]])

    def _inside(self, first: int, last: int) -> str:
        """The text of some tokens, without the blanks around them."""
        whole = self._between(first, last)
        return whole[len(self.blanks[first]) : len(whole) - len(self.blanks[last])]


def _parted(phrase: str) -> tuple[list[str], list[str]]:
    """The tokens of a phrase, and the blanks between them."""
    spans = unit_spans(phrase)
    tokens = [phrase[start:end] for start, end in spans]
    return tokens, [phrase[spans[i][1] : spans[i + 1][0]] for i in range(len(spans) - 1)]


def _common(one: str, other: str, most: int) -> int:
    """How many of the first `most` characters two texts share."""
    return next((i for i in range(most) if one[i] != other[i]), most)


# --- Blanks around an edit, as a writer would set them: none before a comma, and no two where a word goes

_CLOSING = frozenset(",.;:!?…)]}”’»%、。，．：；！？）】」』》〉،؛؟۔।॥")
_OPENING = frozenset("([{“‘„‚«¿¡（【「『《〈")


def _around_insertion(left: str, right: str, new: Sequence[str], seen: str) -> tuple[str, str]:
    """The blanks before and behind tokens inserted between two others, where `seen` stood.

    At the start of the text `left` is empty.
    """
    together = bool(left) and not seen
    opens = together and is_mark(left) and left[-1] not in _CLOSING and not is_mark(right)
    head = seen if not left else "" if opens else _between(left, new[0], seen)
    spaced = seen if writes_no_blanks(right[0]) else None
    return head, "" if together and is_mark(right) else _between(new[-1], right, spaced)


def _around_replacement(
    left: str, right: str, new: Sequence[str], old: Sequence[str], before: str, behind: str
) -> tuple[str, str]:
    """The blanks before and behind tokens that replace others.

    They stay as they are, unless a word replaces a mark or a mark a word.
    """
    head, tail = before, behind
    if left and is_mark(new[0]) != is_mark(old[0]):
        opens = not before and is_mark(left) and left[-1] not in _CLOSING
        head = "" if opens else _between(left, new[0], before)
    if right and is_mark(new[-1]) != is_mark(old[-1]):
        tail = "" if not behind and is_mark(right) else _between(new[-1], right, behind)
    return head, tail


def _behind_deletion(left: str, right: str, before: str, behind: str) -> str:
    """The blank that stays where tokens are deleted.

    `left` and `right` are the tokens that then stand beside it, empty at the ends of the text.
    """
    if not left:
        return before
    if not right:
        return behind
    if (not before and is_mark(left) and left[-1] not in _CLOSING) or (not behind and is_mark(right)):
        return ""
    if before and behind:
        return max(before, behind, key=lambda blank: "\n" in blank)  # a line that ended still does
    return before or behind or _between(left, right, None)


def _exchanged(left: str, right: str, old: Sequence[str], new: Sequence[str], blanks: Sequence[str]) -> list[str]:
    """The blanks around and between tokens in their new order.

    A blank stays where it stands between the same kinds of tokens as before, such as a word and a mark.

    Args:
        left, right: the tokens beside them, empty at the ends of the text.
        old, new: the tokens in both orders, length n.
        blanks: before, between and behind the old ones, length n + 1.
    """
    was, now = [left, *old, right], [left, *new, right]
    kept = []
    for i, blank in enumerate(blanks):
        alike = is_mark(was[i]) == is_mark(now[i]) and is_mark(was[i + 1]) == is_mark(now[i + 1])
        kept.append(blank if alike or not now[i] or not now[i + 1] else _between(now[i], now[i + 1], blank))
    return kept


def _between(left: str, right: str, seen: str | None) -> str:
    """The blank between two tokens that come together.

    `seen` is the blank that stood at the place, None if there was no place.
    """
    if right[0] in _CLOSING or left[-1] in _OPENING:
        return ""
    if writes_no_blanks(left[-1]) or writes_no_blanks(right[0]):
        return seen or ""
    return seen or " "


def is_mark(token: str) -> bool:
    """Whether a token has neither letters nor digits."""
    return not any(c.isalnum() for c in token)


# --- Texts with errors made on purpose, and how bad each error is: training data where nobody has rated anything

MAX_WORDS = 80  # two texts of so many are some 220 pieces; NLI models were trained with 256
_LONGEST_WORD = 40  # characters; what has more for each word allowed is too long unseen


@dataclass(frozen=True)
class Synthesis:
    """A text after all edits.

    Attributes:
        text: the last stratum.
        score: the sum of the severities, -25 to -1 with the usual options.
        steps: from the first edit to the last.
        original: the text as it came.
        wanted: how many edits were drawn; `steps` are fewer where no room was left for more.
        variant: which of the variants of its original, from 0 on.
        id: as it came.
    """

    text: str
    score: float
    steps: tuple[Step, ...]
    original: str
    wanted: int
    variant: int = 0
    id: str | None = None

    def as_row(self, id: str | None = None, others: Sequence[str] = ()) -> dict[str, Any]:  # noqa: A002
        """As it stands in a file of triples; `score` is what `hyp` is worth beside `refs`.

        Args:
            id: the id of the row; None takes the id of the synthesis.
            others: paraphrases of the original, which stand in `refs` in its place; the original is then `original`.
        """
        steps = [
            {"operation": s.operation, **s.edit._asdict(), "span": s.span, "model": s.model}
            | {"severity": round(s.severity, 4), "text": s.text}
            for s in self.steps
        ]
        row = {"hyp": self.text, "refs": list(others) or [self.original], "score": round(self.score, 4)}
        row |= ({"original": self.original} if others else {}) | {"steps": steps}
        named = id if id is not None else self.id
        return row if named is None else {"id": named, **row}


class Syntheses(list["Synthesis | None"]):
    """The result for each text, all variants of one beside each other; None where it was left alone.

    Attributes:
        reasons: why it was, None where it was not; as long as the list.
        signature: what made them.
    """

    def __init__(self, outcomes: Sequence[Synthesis | str], signature: Signature) -> None:
        super().__init__(None if isinstance(o, str) else o for o in outcomes)
        self.reasons: list[str | None] = [o if isinstance(o, str) else None for o in outcomes]
        self.signature = signature

    @property
    def skipped(self) -> Counter[str]:
        """How many were left alone, by reason."""
        return Counter(reason for reason in self.reasons if reason is not None)


def synthesize(
    texts: str | Sequence[str],
    *,
    ids: Sequence[str] | None = None,
    seed: int = 0,
    variants: int = 1,
    operations: Operation | Sequence[Operation] = OPERATIONS,
    edits: float = 5.0,
    max_edits: int = 5,
    span: float = 1.5,
    swap_window: int = 4,
    top_k: int = 4,
    infill: str | Infill | Sequence[str | Infill] = "infill",
    infill_language: str | None = None,
    judge: str | EntailmentJudge | None = JUDGE,
    threshold: float | None = None,
    severity: Kind = "binary",
    max_words: int = MAX_WORDS,
    runtime: Runtime | None = None,
) -> Syntheses:
    """Put one to five errors into each of n texts, and say how bad each error is.

    An error costs -1 if the texts before and after it still entail each other, and -5 otherwise; the sum, -25 at worst,
    is the score of the last text beside the first. A metric can learn from such triples where nobody has rated
    anything. No edit touches an earlier one, and undoing the steps in reverse order gives the text back. Where no room
    is left, fewer edits are made than were `wanted`.

    The same text gets the same errors in any batch and any order.

    Every script is edited, but the shipped fillers and judges read English: for another language name `infill` and
    `judge`, or take operations `swap` and `delete` with severity `none`.

    Args:
        texts, ids: what errors are put into, and its ids, length n; a single string is one text.
        seed: it makes the draws of a text together with the id of the text, or else the text itself.
        operations: which edits there are; a single string is one.
        edits, max_edits, span, swap_window, top_k: the distributions, see `Draws`.
        infill: gives words: `infill` (shipped head), `lexicon` (no model, and no insertions), a masked or denoising
            model, or an object with `fill(gaps, k)` and perhaps `phrases` (`span` applies). Of several, one is drawn
            for each edit.
        infill_language: code of the language of the texts, for models of many languages: `de_DE` for mBART.
        judge: the NLI model that tells minor from major errors; None goes with severity `none`.
        threshold: an error is minor from this probability on; None takes the threshold calibrated for the judge.
        severity: `binary`: -1 or -5; `graded`: between them; `none`: -1 for each error.
        variants, max_words, runtime: how often each text is taken; longer ones are left alone; device and models.

    Returns:
        n * variants outcomes. One is None if the text has no letters, fewer than two words or too many; see `reasons`.

    Raises:
        SpecError: an option is out of range.
        InputError: something is not a text, or a model cannot be found.
        MissingExtra: the packages for models are not installed.

    References:
        Xu et al. (2022), "Not All Errors are Equal" (SEScore), sections 3.2 and 3.3. Where the paper and its code
        differ: lengths are Poisson(1.5) as in the paper (the code: 1 + Poisson(1.5)); the first token can be edited; a
        draw that does not fit is drawn again (the code loses it, cuts its array off after an insertion, and doubles a
        token when it swaps neighbours); a replacement is never the word that was there (the code skips such steps and
        counts them); entailment of exactly the threshold is minor (the code requires more).
    """
    listed = [texts] if isinstance(texts, str) else texts_of(texts, "texts")
    chosen = (operations,) if isinstance(operations, str) else tuple(operations)
    return Synthesizer(
        Draws(operations=chosen, edits=edits, max_edits=max_edits, span=span, swap_window=swap_window, top_k=top_k),
        infill=infill,
        infill_language=infill_language,
        judge=judge,
        threshold=threshold,
        severity=severity,
        seed=seed,
        variants=variants,
        max_words=max_words,
        runtime=runtime,
    )(listed, ids)


class Synthesizer:
    """`synthesize` with its models loaded once, for texts that come in portions.

    Four fifths of the time is the judge, which is asked for the second direction only if the first one holds.

    On one machine texts, edits and severities do not depend on the portions, with the two exceptions that rounding
    makes: graded severities agree up to it, and a denoiser that finds two phrases as likely up to it may prefer the
    other one.

    Raises:
        SpecError: an option out of range.
        InputError: a model that cannot be found.
    """

    def __init__(
        self,
        draws: Draws | None = None,
        *,
        infill: str | Infill | Sequence[str | Infill] = "infill",
        infill_language: str | None = None,
        judge: str | EntailmentJudge | None = JUDGE,
        threshold: float | None = None,
        severity: Kind = "binary",
        seed: int = 0,
        variants: int = 1,
        max_words: int = MAX_WORDS,
        runtime: Runtime | None = None,
    ) -> None:
        for name, value in (("variants", variants), ("max_words", max_words)):
            if value < 1:
                raise SpecError(f"{name} is {value}, expected 1 or more")
        self.draws, self.seed, self.variants, self.max_words = draws or Draws(), seed, variants, max_words
        self.runtime = runtime or Runtime()
        self.severity = rated_by(judge, severity, threshold, self.runtime)
        given = [infill] if isinstance(infill, str) or not isinstance(infill, Sequence) else infill
        self.fillers = [_Filler(one, self.runtime, infill_language) for one in given]
        names = [filler.name for filler in self.fillers]
        if not names or len(set(names)) < len(names):
            raise SpecError(f"infill is {names}, expected one model or several, each named once")
        if infill_language is not None and not any("language" in filler.facts for filler in self.fillers):
            raise SpecError(
                f"infill_language is {infill_language!r}, but {', '.join(names)} marks no languages; leave it out"
            )

    @property
    def signature(self) -> Signature:
        """Everything that could change what comes out."""
        draws = self.draws
        entries: dict[str, Any] = {
            "synthesis": "stratified",
            "operations": ",".join(draws.operations),
            "edits": draws.edits,
            "max_edits": draws.max_edits,
            "span": draws.span,
            "swap_window": draws.swap_window,
            "top_k": draws.top_k,
            "infill": "+".join(filler.name for filler in self.fillers),
            **{
                k: v
                for i, f in enumerate(self.fillers)
                for k, v in _facts(f"infill{i + 1}" if i else "infill", f.facts)
            },
            "severity": self.severity.kind,
            "judge": self.severity.name,
            "threshold": self.severity.threshold,
            **dict(_facts("judge", self.severity.facts)),
            "max_words": self.max_words,
            "seed": self.seed,
            "variants": self.variants,
            "nlgauge": version("nlgauge"),
        }
        return Signature("synthesize", tuple((key, show(value)) for key, value in entries.items() if value is not None))

    def __call__(self, texts: Sequence[str], ids: Sequence[str] | None = None) -> Syntheses:
        """As `synthesize`."""
        for what, strings in (("texts", texts), ("ids", ids or ())):
            for i, value in enumerate(strings):
                if not isinstance(value, str):
                    raise InputError(f"{what}[{i}] is {type(value).__name__}, expected a string")
        if isinstance(ids, str):
            raise InputError("ids is one string, expected an id for each text")
        if ids is not None and len(ids) != len(texts):
            raise InputError(f"{len(texts)} texts but {len(ids)} ids; give one id per text")
        outcomes: list[str | tuple[Walk, int, int]] = []
        walks: list[tuple[Walk, str]] = []
        fillers = {filler.name: filler.phrases for filler in self.fillers}
        for i, text in enumerate(texts):
            reason = unfit(text, self.max_words)
            for variant in range(self.variants):
                if reason is not None:
                    outcomes.append(reason)
                    continue
                key = ids[i] if ids is not None else text
                walk = Walk(text, self.draws, fillers, stream(self.seed, f"synthesize/{variant}", key))
                walks.append((walk, f"{variant}/{key}"))
                outcomes.append((walk, i, variant))
        self._edit(walks)
        return Syntheses(self._rated(outcomes, texts, ids), self.signature)

    def _edit(self, walks: Sequence[tuple[Walk, str]]) -> None:
        """All edits of all texts; each round fills one gap of every text that needs words."""
        with self.runtime.progress(len(walks), "edits") as advance:
            going = list(walks)
            while going:
                asked = [(walk, key, walk.ask()) for walk, key in going]
                advance(sum(gap is None for _, _, gap in asked))
                open_ = [(walk, key, gap) for walk, key, gap in asked if gap is not None]
                for filler in self.fillers:
                    own = [each for each in open_ if each[0].filler == filler.name]
                    keys = [f"{self.seed}/{len(walk.made)}/{key}" for walk, key, _ in own]
                    found = filler.fill([gap for _, _, gap in own], walks[0][0].asked_for, keys)
                    for (walk, _, _), words in zip(own, found, strict=True):
                        walk.answer(words)
                going = [(walk, key) for walk, key, _ in open_]

    def _rated(
        self, outcomes: Sequence[str | tuple[Walk, int, int]], texts: Sequence[str], ids: Sequence[str] | None
    ) -> list[Synthesis | str]:
        walks = [(texts[outcome[1]], outcome[0].made) for outcome in outcomes if not isinstance(outcome, str)]
        pairs = [pair for text, made in walks for pair in pairwise([text, *(m.text for m in made)])]
        deletes = [m.operation == "delete" for _, made in walks for m in made]
        # What lost words can hardly entail what it was; what gained some can hardly be entailed.
        rated = iter(self.severity.rate(pairs, deletes))
        found: list[Synthesis | str] = []
        for outcome in outcomes:
            if isinstance(outcome, str):
                found.append(outcome)
                continue
            walk, i, variant = outcome
            steps = tuple(replace(step, severity=worth) for step, worth in zip(walk.made, rated, strict=False))
            if not steps:
                found.append("no edit fits")
                continue
            score, name = sum(step.severity for step in steps), None if ids is None else ids[i]
            found.append(Synthesis(steps[-1].text, score, steps, texts[i], walk.wanted, variant, name))
        return found


def _facts(role: str, facts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The facts that identify a model, for a signature; its name stands there already, under its role."""
    return [(f"{role}_{key}", value) for key, value in facts.items() if key != "model"]


def unfit(text: str, max_words: int = MAX_WORDS) -> str | None:
    """Why a text cannot be edited with sense, None if it can: `empty`, `no letters`, `one word`, `too long`."""
    if is_blank(text):
        return "empty"
    if len(text) > max_words * _LONGEST_WORD:
        return "too long"
    if not any(c.isalpha() for c in text):
        return "no letters"
    words = sum(not is_mark(text[start:end]) for start, end in unit_spans(text))
    return "one word" if words < 2 else "too long" if words > max_words else None


class _Filler:
    """The source of words, and its name for records."""

    def __init__(self, given: str | Infill, runtime: Runtime, language: str | None) -> None:
        self._given: Infill | None = None
        self.facts: Mapping[str, Any] = {}
        if isinstance(given, str) and given != "lexicon":
            from nlgauge.models.filler import load_infill
            from nlgauge.models.infill import locate_infill

            spoken = language if locate_infill(given).phrases else None
            given = load_infill(given, dtype=runtime.dtype, runtime=runtime, language=spoken)
        if isinstance(given, str):
            self.name, self.phrases = given, False
            return
        if not isinstance(given, Infill):
            raise SpecError(
                f"infill is {type(given).__name__}, expected the name of a model, 'lexicon' or an object with"
                " fill(gaps, k)"
            )
        self._given = given
        self.name = str(getattr(given, "name", type(given).__name__))
        self.phrases = bool(getattr(given, "phrases", False))
        facts = getattr(given, "facts", None)
        self.facts = facts() if callable(facts) else {}

    def fill(self, gaps: Sequence[Gap], k: int, keys: Sequence[str]) -> list[list[Filler]]:
        """Words for each gap; where they are drawn and not predicted, the key of each makes the draws."""
        if not gaps:
            return []
        if self._given is not None:
            given = self._given.fill(gaps, k)
            if len(given) != len(gaps):
                raise InputError(
                    f"infill {self.name} filled {len(given)} of {len(gaps)} gaps, expected a list of words for each"
                )
            return given
        known, found = language(), []
        for gap, key in zip(gaps, keys, strict=True):
            (fillers,) = LexiconInfill(known, stream(0, "lexicon", key)).fill([gap], k)
            old = gap.text[gap.start : gap.end]
            found.append([Filler(with_case_of(old, f.word) if old else f.word, f.score) for f in fillers])
        return found


# --- A long synthesis: portion by portion into a journal, with the texts left alone and a summary of all triples

PORTION = 256  # texts that are kept together; a run that is killed loses no more
NAN = float("nan")
Progress = Callable[[int, str], AbstractContextManager[Advance]]


@dataclass(frozen=True)
class SynthesisRun:
    """A finished run.

    Attributes:
        journal: holds the triples.
        signature: what made them.
    """

    journal: Journal
    signature: Signature

    @property
    def skipped(self) -> Counter[str]:
        """How many texts were left alone, by reason."""
        return Counter(self.journal.state["skipped"])

    @property
    def left_alone(self) -> str:
        """The number of texts left alone, by reason, in words; empty if there were none."""
        total = self.skipped.total()
        reasons = ", ".join(f"{reason} {n}" for reason, n in self.skipped.most_common())
        return f"left alone: {total} {'text' if total == 1 else 'texts'} ({reasons})" if total else ""

    def result(self, inputs: Sequence[Mapping[str, str]] = (), notes: Sequence[str] = ()) -> Result:
        """The result that `nlgauge synth` prints: one row per operation, and one for all.

        Args:
            inputs: the files read.
            notes: notes on what was read; a note on what was left alone is added.
        """
        about = {"spec": "synthesize", "signature": str(self.signature), "higher_is_better": True}
        left = [self.left_alone] if self.left_alone else []
        return Result("synth", summary_rows(self.journal.rows()), inputs, [about], [*notes, *left])


def run_synthesis(
    maker: Synthesizer,
    texts: Sequence[str],
    ids: Sequence[str],
    journal: Journal,
    *,
    others: Sequence[Sequence[str]] = (),
    limit: int | None = None,
    progress: Progress = silent,
) -> SynthesisRun:
    """Put errors into all texts, portion by portion; start where the journal stops.

    Args:
        maker: puts errors into texts.
        texts: length n.
        ids: the ids of the texts, length n; the id of a triple is that of its text, with `/0`, `/1` ... for variants.
        journal: takes the triples.
        others: of each text its paraphrases, length n: they are the `refs` of its triples, and the text as it came
            is one more triple, `ID/untouched`, with the score 0. Empty: each text is compared with itself.
        limit: use only the first texts, up to this many.
        progress: shows how many texts are done.
    """
    n = len(texts) if limit is None else min(limit, len(texts))
    if not journal.state:
        journal.state = {"skipped": {}}
    with progress(n, "texts") as advance:
        advance(journal.taken)
        for start in range(journal.taken, n, PORTION):
            end = min(start + PORTION, n)
            outcomes = maker(texts[start:end])
            rows = []
            for place, one in enumerate(outcomes):
                at = start + place // maker.variants
                if one is not None:
                    name = ids[at] if maker.variants == 1 else f"{ids[at]}/{one.variant}"
                    rows.append(one.as_row(name, others[at] if others else ()))
                if others and (place + 1) % maker.variants == 0:
                    rows.append(_untouched(ids[at], texts[at], others[at]))
            each = zip(*(outcomes.reasons[variant :: maker.variants] for variant in range(maker.variants)), strict=True)
            reasons = Counter(own[0] for own in each if own[0] is not None and None not in own)
            journal.add(end, rows, {"skipped": dict(Counter(journal.state["skipped"]) + reasons)})
            advance(end - start)
    return SynthesisRun(journal, maker.signature)


def _untouched(name: str, text: str, others: Sequence[str]) -> dict[str, Any]:
    """The triple of a text as it came beside its paraphrases."""
    return {"id": f"{name}/untouched", "hyp": text, "refs": list(others), "score": 0.0, "original": text, "steps": []}


def summary_rows(triples: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row per operation and one for all, from rows of triples.

    Each has the number of edits, their share, their mean severity, and the share of major ones where severities are
    -1 or -5. Triples without an edit, as of paraphrases, do not count.
    """
    texts, score = 0, 0.0
    severities: dict[str, list[float]] = {}
    for triple in triples:
        if not triple["steps"]:
            continue  # untouched, beside its paraphrases
        texts += 1
        score += triple["score"]
        for step in triple["steps"]:
            severities.setdefault(step["operation"], []).append(step["severity"])
    every = [severity for values in severities.values() for severity in values]
    return [
        {
            "operation": name,
            "texts": texts,
            "edits": len(values),
            "share": len(values) / len(every) if every else NAN,
            "severity": sum(values) / len(values) if values else NAN,
            "major": _major(values),
            "score": score / texts if texts and name == "all" else NAN,
        }
        for name, values in {**dict(sorted(severities.items())), "all": every}.items()
    ]


def _major(severities: Sequence[float]) -> float:
    """The share of -5; NaN where there are none, and where they are graded."""
    if not severities or not {MINOR, MAJOR}.issuperset(severities):
        return NAN
    return sum(severity == MAJOR for severity in severities) / len(severities)
