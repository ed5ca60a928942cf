"""Texts with a score to learn: synthesised errors or people's ratings, in batches that share references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan, Severity
from nlgauge.core.segment import Segment, is_blank, said
from nlgauge.io.files import Faults, InputFile, Lines
from nlgauge.io.rows import JsonRows
from nlgauge.models.infill import PieceTokenizer
from nlgauge.models.tokens import Ids, TextTokenizer
from nlgauge.scoring.explaining import Worded, is_function

_WINDOW = 64  # the number of batches shuffled together before they are sorted by length
_SHAPE = "expected an object with the text hyp, refs (one text or a list) and the number score"


class Example(NamedTuple):
    """One hypothesis, what it is compared with, and its score.

    Attributes:
        texts: `hyp`, and `ref` and `src` where there are any.
        score: the score to learn.
        owner: the number of its segment; a segment with several references has several examples.
    """

    texts: Mapping[str, str]
    score: float
    owner: int


def read_triples(file: InputFile) -> list[Example]:
    """The triples of a JSON lines file, as `nlgauge synth` writes them: `hyp`, `refs`, `score`.

    Each reference of a triple makes an example of its own.

    Raises:
        InputError: a field is missing or has the wrong type, a score is above 0, or there is no triple at all; the
            error names file and line.
    """
    rows, faults = JsonRows(file), Faults(file.name)
    rows.refuse = faults.add
    examples: list[Example] = []
    for owner, (number, row) in enumerate(rows):
        with faults.row(rows.at(number)):
            examples += _triple(row, owner)
    faults.check()
    if not examples:
        raise InputError(f"{file.name} holds no triples, expected one JSON object per line with hyp, refs and score")
    return examples


def _triple(row: Any, owner: int) -> list[Example]:
    if not isinstance(row, dict):
        raise InputError(f"{type(row).__name__}, {_SHAPE}")
    hyp, score = row.get("hyp"), row.get("score")
    refs = row.get("refs", row.get("ref"))
    refs = [refs] if isinstance(refs, str) else refs
    if not isinstance(hyp, str):
        raise InputError(f"hyp is {_kind(hyp)}, {_SHAPE}")
    if not isinstance(refs, list) or not refs or not all(isinstance(ref, str) for ref in refs):
        raise InputError(f"refs is {_kind(refs)}, {_SHAPE}")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise InputError(
            f"score is {_kind(score)}, {_SHAPE}; 'nlgauge synth' writes them, 'nlgauge train regressor' takes ratings"
        )
    try:
        score = float(score)
    except OverflowError:
        raise InputError(f"score is {str(score)[:20]}..., expected a number of 64 bits, 0 or less") from None
    if score > 0:
        raise InputError(
            f"score is {score:g}, expected 0 or less, a sum of severities; 'nlgauge train regressor' takes ratings"
        )
    return [Example({"hyp": hyp, "ref": ref}, score, owner) for ref in refs]


def _kind(value: Any) -> str:
    return "missing" if value is None else "an empty list" if value == [] else type(value).__name__


def rated_examples(
    segments: Sequence[Segment], ratings: Sequence[float], reference: bool = True, source: bool = False
) -> list[Example]:
    """Rated segments as examples, one per reference; segments without a rating (NaN) are left out.

    Args:
        segments: n segments.
        ratings: n ratings.
        reference: whether references are read.
        source: whether sources are read.

    Raises:
        InputError: a rated segment lacks what is read.
    """
    examples = []
    for owner, (segment, rating) in enumerate(zip(segments, ratings, strict=True)):
        if np.isnan(rating):
            continue
        texts = {"hyp": segment.hypothesis}
        if source:
            if not segment.source:
                raise InputError(f"segment {segment.id!r} has no source, which is to be read; leave --source out")
            texts["src"] = segment.source
        if reference and not segment.references:
            raise InputError(
                f"segment {segment.id!r} has no reference; give --source and --no-reference to learn from the source"
                " alone"
            )
        against = [{"ref": ref} for ref in segment.references] if reference else [{}]
        examples += [Example(texts | one, float(rating), owner) for one in against]
    return examples


def related_examples(
    segments: Sequence[Segment], turns: int | None = 1, negatives: int = 1, seed: int = 0
) -> list[Example]:
    """Replies that go with their query, at 1, and for each of them replies to other queries, at 0.

    The replies of a segment are its references, or its hypothesis where it has none; those of equal queries belong
    together. Blank texts are left out.

    Args:
        segments: dialogues.
        turns: how many of the last turns of the context are the query; None takes the source as the query.
        negatives: how many replies to other queries are drawn for each reply.
        seed: the seed of that draw.

    Raises:
        InputError: a segment has no query, or there are fewer than two queries with replies of their own.
    """
    replies: dict[str, list[str]] = {}
    for segment in segments:
        if segment.source is None if turns is None else not segment.context:
            lacking = "source" if turns is None else "context; with the query as the source, give --anchor source"
            raise InputError(f"segment {segment.id!r} has no {lacking}")
        query = (segment.source or "").strip() if turns is None else " ".join(said(segment.context, turns))
        own = [text.strip() for text in segment.references or (segment.hypothesis,)]
        if query and not is_blank(query):
            replies.setdefault(query, []).extend(text for text in own if not is_blank(text))
    every = list(dict.fromkeys(text for own in replies.values() for text in own))
    rng = np.random.default_rng((seed, len(every), negatives))
    examples: list[Example] = []
    for query, own in replies.items():
        others = len(every) - len(set(own))
        if own and not others:
            raise InputError("all queries have the same replies, expected at least two with replies of their own")
        for reply in dict.fromkeys(own):
            drawn = _drawn(every, set(own), negatives, rng)
            for text, score in ((reply, 1.0), *((text, 0.0) for text in drawn)):
                examples.append(Example({"hyp": text, "src": query}, score, len(examples)))
    if not examples:
        raise InputError("there is no query with a reply, expected at least two")
    return examples


def _drawn(texts: Sequence[str], without: set[str], n: int, rng: np.random.Generator) -> list[str]:
    """Texts at random, at most once each as long as there are enough, none of them in `without`."""
    found: list[str] = []
    if len(texts) - len(without) <= n:
        return [text for text in texts if text not in without]
    while len(found) < n:
        text = texts[int(rng.integers(len(texts)))]
        if text not in without and text not in found:
            found.append(text)
    return found


def renumbered(parts: Sequence[Sequence[Example]]) -> list[Example]:
    """The examples of several files together; no two files share an owner."""
    examples: list[Example] = []
    for part in parts:
        first = examples[-1].owner + 1 if examples else 0
        examples += [example._replace(owner=example.owner + first) for example in part]
    return examples


def with_copies(examples: Sequence[Example], share: float, score: float, seed: int) -> list[Example]:
    """The examples, and for a share of the distinct references a copy as hypothesis, with the best score.

    A copy costs next to nothing, since its text is encoded anyway.
    """
    references = list(dict.fromkeys(example.texts["ref"] for example in examples))
    rng = np.random.default_rng((seed, len(references)))
    chosen = sorted(rng.permutation(len(references))[: round(share * len(references))].tolist())
    first = examples[-1].owner + 1
    return [
        *examples,
        *(Example({"hyp": references[i], "ref": references[i]}, score, first + n) for n, i in enumerate(chosen)),
    ]


def with_unrelated(examples: Sequence[Example], share: float, score: float, seed: int) -> list[Example]:
    """The examples, and for a share of the distinct references another reference as hypothesis, with the worst score.

    Errors made edit by edit leave most of a text unchanged. Without such pairs nothing tells a regressor how to score
    texts that have nothing in common.
    """
    references = list(dict.fromkeys(example.texts["ref"] for example in examples))
    wanted = round(share * len(references))
    if wanted and len(references) < 2:
        raise InputError(
            "all triples have one reference, and another is wanted as an unrelated hypothesis; leave --unrelated out"
        )
    rng = np.random.default_rng((seed, len(references), 1))
    chosen = sorted(rng.permutation(len(references))[:wanted].tolist())
    first = examples[-1].owner + 1
    others = [(i + int(rng.integers(1, len(references)))) % len(references) for i in chosen]
    added = (
        Example({"hyp": references[other], "ref": references[i]}, score, first + n)
        for n, (i, other) in enumerate(zip(chosen, others, strict=True))
    )
    return [*examples, *added]


@dataclass(frozen=True)
class Encoded:
    """Examples as a regressor reads them.

    Attributes:
        places: `hyp`, `ref`, `src` -> the number of each example's text, shape (n,).
        scores: shape (n,), float64.
        owners: the segment of each example, shape (n,).
        groups: the number of the reference and source that each example is compared with, shape (n,).
        lengths: the number of pieces of each example's longest text.
    """

    places: dict[str, Ids]
    scores: npt.NDArray[np.float64]
    owners: Ids
    groups: Ids
    lengths: Ids

    def __len__(self) -> int:
        return len(self.scores)

    def take(self, where: Ids) -> Encoded:
        """Some of the examples."""
        places = {name: place[where] for name, place in self.places.items()}
        return Encoded(places, self.scores[where], self.owners[where], self.groups[where], self.lengths[where])


class Texts:
    """Distinct texts of many examples, each with its pieces."""

    def __init__(self, tokenizer: TextTokenizer) -> None:
        self.tokenizer = tokenizer
        self._numbers: dict[str, int] = {}
        self.ids: list[Ids] = []
        self.n_cut = 0

    @property
    def summary(self) -> str:
        """How many texts there are, how long they are, and how many were cut."""
        tokens = np.mean([len(ids) for ids in self.ids])
        return f"{len(self.ids)} distinct texts, {tokens:.1f} tokens each, {self.n_cut} cut"

    def encode(self, examples: Sequence[Example]) -> Encoded:
        """The examples with their texts as numbers; new texts are split into pieces and numbered."""
        names = list(examples[0].texts)
        columns = {name: [example.texts[name].strip() for example in examples] for name in names}
        new = [
            text
            for text in dict.fromkeys(text for column in columns.values() for text in column)
            if text not in self._numbers
        ]
        for text, tokens in zip(new, self.tokenizer.tokens(new), strict=True):
            self._numbers[text] = len(self.ids)
            self.ids.append(tokens.ids)
            self.n_cut += tokens.truncated
        places = {
            name: np.array([self._numbers[text] for text in column], dtype=np.int64) for name, column in columns.items()
        }
        beside = [place for name, place in places.items() if name != "hyp"]
        against = np.stack(beside or [places["hyp"]], axis=1)
        _, groups = np.unique(against, axis=0, return_inverse=True)
        sizes = np.array([len(ids) for ids in self.ids], dtype=np.int64)
        lengths = np.max([sizes[place] for place in places.values()], axis=0)
        scores = np.array([example.score for example in examples])
        return Encoded(
            places,
            scores,
            np.array([example.owner for example in examples], dtype=np.int64),
            groups.reshape(-1),
            lengths,
        )


def grouped_batches(groups: Ids, lengths: Ids, size: int, seed: int, epoch: int) -> list[Ids]:
    """Batches of one pass, in random order.

    Examples that are compared with the same text stand together, and lengths are about equal. A reference that stands
    beside all its hypotheses is encoded once per pass, and the order of its hypotheses can be learnt.

    Args:
        groups: the number of the text that each example is compared with, shape (n,), from 0.
        lengths: the number of pieces of each example, shape (n,).
        size: the number of examples in a batch.
        seed: together with the number of the pass it determines the order.
        epoch: the number of the pass, from 0.
    """
    rng = np.random.default_rng((seed, epoch))
    longest = np.zeros(groups.max() + 1, dtype=np.int64)
    np.maximum.at(longest, groups, lengths)
    rank = rng.permutation(len(longest))  # of the groups
    order = np.lexsort((rng.permutation(len(groups)), rank[groups]))
    windows = np.arange(len(order)) // (size * _WINDOW)
    order = order[np.lexsort((rank[groups[order]], longest[groups[order]], windows))]
    batches = [order[i : i + size] for i in range(0, len(order), size)]
    return [batches[i] for i in rng.permutation(len(batches))]


# --- Where the errors of a text are that was changed edit by edit: the exact spans that rules and synthesis give

_NEGATIONS = frozenset("not n't no nor never cannot without".split())  # function words that turn a text round
_RANKS: dict[Severity, int] = {"minor": 1, "major": 2}
_NAMES: dict[int, Severity] = {rank: name for name, rank in _RANKS.items()}


@dataclass(frozen=True)
class PlacedEdit:
    """A change of a text.

    Attributes:
        start, end: the characters that it replaces, of the text before it.
        new: what comes in their place.
        severity: how bad it is; None tells it from the words: major if one of those that come or go carries content or
            negates.
    """

    start: int
    end: int
    new: str
    severity: Severity | None = None


def spans_of_edits(text: str, edits: Iterable[PlacedEdit]) -> tuple[str, tuple[ErrorSpan, ...]]:
    """The text after some edits, one after another, and the errors in it.

    Words at the ends of an edit that are there before and after it are no error. Neighbouring words of one severity are
    one span. Where words are gone and none came, something is missing before the next word.

    Args:
        text: the text before the first edit.
        edits: in the order in which they are made; each has its place in the text that the one before it left.

    Raises:
        InputError: an edit reaches beyond the text.
    """
    made = _Edited(text)
    for edit in edits:
        made.edit(edit)
    return made.text, made.spans()


class _Edited:
    """A text in the making: the rank of the error that each character belongs to, and places where text is gone."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ranks = [0] * len(text)
        self._gaps: dict[int, int] = {}

    def edit(self, edit: PlacedEdit) -> None:
        if not 0 <= edit.start <= edit.end <= len(self.text):
            raise InputError(f"an edit from {edit.start} to {edit.end} of a text of {len(self.text)} characters")
        before, new = _pieces(self.text[edit.start : edit.end]), _pieces(edit.new)
        first = last = 0
        while first < min(len(before), len(new)) and before[first] == new[first]:
            first += 1
        while last < min(len(before), len(new)) - first and before[-1 - last] == new[-1 - last]:
            last += 1
        start = edit.start + len("".join(before[:first]))
        end = edit.end - len("".join(before[len(before) - last :]))
        self._replace(start, end, "".join(new[first : len(new) - last]), edit.severity)

    def _replace(self, start: int, end: int, new: str, severity: Severity | None) -> None:
        old = self.text[start:end]
        rank = _RANKS[severity or _severity(f"{old} {new}")]
        self.text = self.text[:start] + new + self.text[end:]
        self._ranks[start:end] = [0 if char.isspace() else rank for char in new]
        moved: dict[int, int] = {}
        for place, worst in self._gaps.items():
            at = place if place <= start else max(start + len(new), place + len(new) - (end - start))
            moved[at] = max(moved.get(at, 0), worst)
        if old.strip() and not new.strip():
            moved[start] = max(moved.get(start, 0), rank)
        self._gaps = moved

    def spans(self) -> tuple[ErrorSpan, ...]:
        """The errors by words."""
        found: list[ErrorSpan] = []
        words = Worded.of(self.text).places
        run: tuple[int, int, int] | None = None  # start, end and rank
        for start, end in words:
            rank = max(self._ranks[start:end], default=0)
            if run is not None and rank == run[2]:
                run = (run[0], end, rank)
                continue
            if run is not None:
                found.append(ErrorSpan(run[0], run[1], _NAMES[run[2]]))
            run = (start, end, rank) if rank else None
        if run is not None:
            found.append(ErrorSpan(run[0], run[1], _NAMES[run[2]]))
        gone: dict[int, int] = {}
        for place, rank in self._gaps.items():
            at = next((start for start, end in words if end > place), len(self.text))
            gone[at] = max(gone.get(at, 0), rank)
        found += [ErrorSpan(at, at, _NAMES[rank], missing=True) for at, rank in gone.items()]
        return tuple(sorted(found, key=lambda span: (span.start, span.end)))


def _pieces(text: str) -> list[str]:
    """Words and what stands between them."""
    found, at = [], 0
    for start, end in Worded.of(text).places:
        found += [text[at:start], text[start:end]]
        at = end
    return [piece for piece in (*found, text[at:]) if piece]


def _severity(words: str) -> Severity:
    carries = (word in _NEGATIONS or not is_function(word) for word in Worded.of(words).lower)
    return "major" if any(carries) else "minor"


# --- Sentences for a masked language model: read, taken into pieces, their words masked

_LEAST_WORDS = 3  # a shorter text says too little about a word in it


@dataclass(frozen=True)
class EncodedTexts:
    """Texts as a masked language model reads them.

    Attributes:
        ids: piece ids of each text, special tokens included.
        words: where in them the words of one piece stand, punctuation included; these are what is masked.
        n_left_out: texts of fewer than three such words.
        n_cut: texts longer than the limit, whose end was cut off.
        capital: whether a piece is mostly written with a capital where no sentence begins, as names are, and whether
            with nothing but capitals; shape (2, V).
    """

    ids: list[Ids]
    words: list[Ids]
    n_left_out: int
    n_cut: int
    capital: npt.NDArray[np.bool_]

    @property
    def lengths(self) -> Ids:
        """Pieces of each text, shape (n,)."""
        return np.array([len(ids) for ids in self.ids], dtype=np.int64)

    @property
    def summary(self) -> str:
        """How many texts there are, how long they are, and what became of others."""
        tokens = self.lengths.mean()
        return f"{len(self.ids)} texts, {tokens:.1f} tokens each, {self.n_cut} cut, {self.n_left_out} too short"

    def counts(self, size: int) -> Ids:
        """How often each piece of the vocabulary is a word, shape (size,)."""
        return np.bincount(
            np.concatenate([ids[words] for ids, words in zip(self.ids, self.words, strict=True)]), minlength=size
        )


def read_texts(files: Sequence[InputFile]) -> list[str]:
    """The lines of some files that are not blank.

    Raises:
        InputError: there is none; what `Lines` raises.
    """
    texts = [text for file in files for _, text in Lines(file).filled()]
    if not texts:
        raise InputError(f"{', '.join(file.name for file in files)} holds no text, expected one sentence per line")
    return texts


def encode_texts(texts: Sequence[str], tokenizer: PieceTokenizer) -> EncodedTexts:
    """Pieces of each text and where its words stand; texts without enough words are left out."""
    rows, words, n_cut = [], [], 0
    capitals, seen = np.zeros((2, len(tokenizer.vocabulary))), np.zeros(len(tokenizer.vocabulary))
    is_word = np.array([bool(word) for word in tokenizer.bare]) & ~tokenizer.continues
    letters = np.array([word[:1].isalpha() for word in tokenizer.bare])
    room = (
        None if tokenizer.max_tokens is None else tokenizer.max_tokens - len(tokenizer.prefix) - len(tokenizer.suffix)
    )
    for text, placed in zip(texts, tokenizer.place(texts), strict=True):
        ids = placed.ids
        alone = is_word[ids] & ~np.append(tokenizer.continues[ids[1:]], False)
        # A capital says something behind a word, not behind a full stop or a quotation mark.
        inside = np.flatnonzero(alone[1:] & letters[ids[1:]] & letters[ids[:-1]]) + 1
        np.add.at(seen, ids[inside], 1)
        written = [text[start:end] for start, end in zip(placed.starts[inside], placed.ends[inside], strict=True)]
        np.add.at(capitals[0], ids[inside], [word[0].isupper() for word in written])
        np.add.at(capitals[1], ids[inside], [word.isupper() for word in written])
        kept = ids[:room]
        at = np.flatnonzero(alone[: len(kept)])
        if len(at) >= _LEAST_WORDS:
            rows.append(np.concatenate([tokenizer.prefix, kept, tokenizer.suffix]))
            words.append(at + len(tokenizer.prefix))
            n_cut += len(kept) < len(ids)
    if not rows:
        raise InputError(
            f"no text has {_LEAST_WORDS} words that the model knows, of {len(texts)}; expected sentences, one per line"
        )
    return EncodedTexts(rows, words, len(texts) - len(rows), n_cut, capitals > seen / 2)


def masked(
    texts: EncodedTexts,
    where: Ids | Sequence[int],
    share: float,
    shown: float,
    mask: int,
    size: int,
    rng: np.random.Generator,
) -> tuple[list[Ids], list[Ids]]:
    """Some texts with words masked.

    Args:
        texts: what is masked.
        where: their positions.
        share: of the words of a text that are masked, at least one.
        shown: share of these that is not masked but shown, half as they are and half as any piece (BERT: 0.2).
        mask: id of the mask token.
        size: pieces in the vocabulary.
        rng: the draws.

    Returns:
        Ids of each text, and where the words stand that are to be guessed.
    """
    rows, places = [], []
    for i in where:
        ids, words = texts.ids[i].copy(), texts.words[i]
        chosen = np.sort(rng.choice(words, max(1, round(share * len(words))), replace=False))
        draws = rng.random(len(chosen))
        ids[chosen[draws >= shown]] = mask
        other = chosen[draws < shown / 2]
        ids[other] = rng.integers(size, size=len(other))
        rows.append(ids)
        places.append(chosen)
    return rows, places
