"""Texts with a score to learn: synthesised errors or people's ratings, in batches that share references."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment, is_blank, said
from nlgauge.io.files import Faults, InputFile
from nlgauge.io.rows import JsonRows
from nlgauge.models.tokens import Ids, TextTokenizer

Row = TypeVar("Row")
WINDOW = 64  # the number of batches shuffled together before they are sorted by length
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

    Each reference of a triple makes an example of its own. `id` is that of the text, with `/0`, `/1` and so on for
    variants, `score` the sum of the severities, from 0 to -25, `original` the text before the errors where paraphrases
    stand in `refs`, and `steps` has each edit: `operation`, `start`, `end`, `new`, `span`, `model`, `severity`, and the
    `text` after it.

    Raises:
        InputError: a field is missing or has the wrong type, a score is above 0, or there is no triple at all; the
            error names file and line.
    """
    owners = count()
    return read_rows(
        file,
        lambda row, where: _triple(row, next(owners)),
        "triples, expected one JSON object per line with hyp, refs and score",
    )


def read_rows(file: InputFile, read: Callable[[Any, str], Iterable[Row]], what: str) -> list[Row]:
    """What `read` makes of each row of a JSON lines file and of its place; every faulty row is named.

    A file of which nothing is read is refused; `what` says of what there is none.
    """
    rows, faults = JsonRows(file), Faults(file.name)
    rows.refuse = faults.add
    found: list[Row] = []
    for number, row in rows:
        where = rows.at(number)
        with faults.row(where):
            found += read(row, where)
    faults.check()
    if not found:
        raise InputError(f"{file.name} holds no {what}")
    return found


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

    A rated segment that lacks a reference or a source, where these are read, is refused.
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


def related_examples(segments: Sequence[Segment], seed: int = 0) -> list[Example]:
    """Replies that go with their query, at 1, and beside each of them a reply to another query, at 0.

    The query is the last turn of the context, or the source where there is no context. The replies of a segment are its
    references, or its hypothesis where it has none; those of equal queries belong together. Blank texts are left out.

    Raises:
        InputError: a segment has no query, or there are fewer than two queries with replies of their own.
    """
    replies: dict[str, list[str]] = {}
    for segment in segments:
        if segment.source is None and not segment.context:
            raise InputError(f"segment {segment.id!r} has no context and no source, expected a query")
        query = " ".join(said(segment.context, 1)) if segment.context else (segment.source or "").strip()
        own = [text.strip() for text in segment.references or (segment.hypothesis,)]
        if query and not is_blank(query):
            replies.setdefault(query, []).extend(text for text in own if not is_blank(text))
    every = list(dict.fromkeys(text for own in replies.values() for text in own))
    rng = np.random.default_rng((seed, len(every), 1))
    examples: list[Example] = []
    for query, own in replies.items():
        known = set(own)
        if own and len(known) == len(every):
            raise InputError("all queries have the same replies, expected at least two with replies of their own")
        for reply in dict.fromkeys(own):
            while (other := every[int(rng.integers(len(every)))]) in known:
                pass  # there is one that is not
            for text, score in ((reply, 1.0), (other, 0.0)):
                examples.append(Example({"hyp": text, "src": query}, score, len(examples)))
    if not examples:
        raise InputError("there is no query with a reply, expected at least two")
    return examples


def renumbered(parts: Sequence[Sequence[Example]]) -> list[Example]:
    """The examples of several files together; no two files share an owner."""
    examples: list[Example] = []
    for part in parts:
        first = examples[-1].owner + 1 if examples else 0
        examples += [example._replace(owner=example.owner + first) for example in part]
    return examples


def with_extremes(
    examples: Sequence[Example], copies: float, unrelated: float, worst: float, seed: int
) -> list[Example]:
    """The examples, then copies of references as hypotheses, which cost 0, then references beside another one.

    A copy costs next to nothing to learn from, since its text is encoded anyway. Errors made edit by edit never show
    how to score texts that have nothing in common.

    Args:
        examples: in the order of their owners.
        copies: the share of the distinct references that is copied.
        unrelated: the share that stands beside another one.
        worst: the score of those.
        seed: of the draws.

    Raises:
        InputError: there is one reference alone, and another is wanted.
    """
    references = list(dict.fromkeys(example.texts["ref"] for example in examples))
    n, first = len(references), examples[-1].owner + 1
    wanted = round(unrelated * n)
    if wanted and n < 2:
        raise InputError(
            "all triples have one reference, and another is wanted as an unrelated hypothesis; leave --unrelated out"
        )
    copied = sorted(np.random.default_rng((seed, n)).permutation(n)[: round(copies * n)].tolist())
    rng = np.random.default_rng((seed, n, 1))
    apart = sorted(rng.permutation(n)[:wanted].tolist())
    pairs = [(i, i, 0.0) for i in copied] + [((i + int(rng.integers(1, n))) % n, i, worst) for i in apart]
    return [
        *examples,
        *(
            Example({"hyp": references[h], "ref": references[r]}, score, first + k)
            for k, (h, r, score) in enumerate(pairs)
        ),
    ]


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

    @classmethod
    def of(cls, examples: Sequence[Example], places: dict[str, Ids], groups: Ids, ids: Sequence[Ids]) -> Encoded:
        """Examples whose texts stand at these places of `ids`."""
        sizes = np.array([len(pieces) for pieces in ids], dtype=np.int64)
        lengths = np.max([sizes[place] for place in places.values()], axis=0)
        scores = np.array([example.score for example in examples])
        owners = np.array([example.owner for example in examples], dtype=np.int64)
        return cls(places, scores, owners, groups.reshape(-1), lengths)

    def __len__(self) -> int:
        return len(self.scores)

    def take(self, where: Ids) -> Encoded:
        """Some of the examples."""
        places = {name: place[where] for name, place in self.places.items()}
        return Encoded(places, self.scores[where], self.owners[where], self.groups[where], self.lengths[where])


class ExampleTexts:
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
        return Encoded.of(examples, places, groups, self.ids)


def grouped_batches(groups: Ids, lengths: Ids, size: int, seed: int, epoch: int) -> list[Ids]:
    """Batches of one pass, numbered from 0, in random order.

    Examples that are compared with the same text, whose number is in `groups`, shape (n,), stand together, and lengths
    are about equal: a reference is encoded once per pass, and the order of its hypotheses can be learnt.
    """
    rng = np.random.default_rng((seed, epoch))
    longest = np.zeros(groups.max() + 1, dtype=np.int64)
    np.maximum.at(longest, groups, lengths)
    rank = rng.permutation(len(longest))  # of the groups
    order = np.lexsort((rng.permutation(len(groups)), rank[groups]))
    windows = np.arange(len(order)) // (size * WINDOW)
    order = order[np.lexsort((rank[groups[order]], longest[groups[order]], windows))]
    batches = [order[i : i + size] for i in range(0, len(order), size)]
    return [batches[i] for i in rng.permutation(len(batches))]
