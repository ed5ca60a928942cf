"""A head that marks the words at fault in a text: texts whose errors are known by place, training, thresholds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from safetensors import safe_open

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan, Severity
from nlgauge.core.result import check_target, claimed
from nlgauge.core.segment import is_blank
from nlgauge.io.files import InputFile
from nlgauge.io.marked import errors_of
from nlgauge.models.encoder import FEATURES, Words
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.heads import SUFFIX, find_head
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.networks import ALIGNED, POOLED, aligned, pooled_units
from nlgauge.models.spans import KIND, OUTPUTS, Judged, WordPairs, load_spans, read_words
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Runtime, torch_device
from nlgauge.scoring.explaining import MarkThresholds, WordedText, carries_content, marked_spans, thresholds
from nlgauge.stats.draws import wilson
from nlgauge.stats.spans import clean_counts, one_to_one_counts, share_of_totals, span_agreement
from nlgauge.training.adapters import adapter_tensors, begin_adapters
from nlgauge.training.examples import read_rows
from nlgauge.training.heads import (
    adapted_network,
    arithmetic,
    head_metadata,
    own_tensors,
    pad_of,
    padded,
    reads_types,
    write_head,
)
from nlgauge.training.loop import Checkpoint, fit_network
from nlgauge.training.recipe import Recipe, beginning, check_precision, run_line, trainable

_SHAPE = (
    "expected hyp with ref and spans (as of nlgauge explain -o), better and worse (as of nlgauge perturb), or hyp with"
    " refs and steps (as of nlgauge synth)"
)
_FLUENCY = "fluency"  # errors of this criterion of a checklist are minor, and those of these perturbations
_MINOR = frozenset({"typos", "subject_verb_disagreement", "repeat_phrases"})
_MAJOR = -5.0  # the severity of a step from which on it is major
_LABELS: Mapping[Severity, int] = {"minor": 1, "major": 2}


@dataclass(frozen=True)
class SpanExample:
    """A text with known errors, beside a text without.

    Attributes:
        text: the text.
        other: what it is compared with.
        spans: the errors in the text, and the places where something is missing; None where only `faulty` is known.
        faulty: whether the text has an error at all; None where the spans say so, or nobody knows.
        gaps: whether the spans tell what is missing, too.
    """

    text: str
    other: str
    spans: tuple[ErrorSpan, ...] | None
    faulty: bool | None = None
    gaps: bool = True

    def labelled(self) -> MarkedPair:
        """The labels of its words, as a network learns them."""
        worded = WordedText.of(self.text)
        n = len(worded.places)
        labels = [UNKNOWN if self.spans is None else 0] * n
        missing = [0 if self.gaps and self.spans is not None else UNKNOWN] * (n + 1)
        for span in self.spans or ():
            if span.missing:
                missing[next((i for i, (start, _) in enumerate(worded.places) if start >= span.start), -1)] = 1
                continue
            for i, (start, end) in enumerate(worded.places):
                if span.start < end and start < span.end:
                    labels[i] = max(labels[i], _LABELS[span.severity])
        return MarkedPair(worded.words, WordedText.of(self.other).words, tuple(labels), tuple(missing), self.faulty)


def read_span_examples(file: InputFile) -> list[SpanExample]:
    """The examples of a JSON lines file, plain or gzip. A row has one of three forms, and an example per reference.

    - Marked texts: `hyp`, `ref` or `refs` (or `against`, as `nlgauge explain -o` writes it), and `spans` or `errors`.
      `faulty` may say whether the text has an error, and `gaps` be false where nobody looked for what is missing. A
      row whose errors are null teaches only what `faulty` says, and is left out without it: nobody looked for any.
    - Pairs of `nlgauge perturb -o FILE.jsonl`: the errors are at the edits. They are minor if they are of the criterion
      fluency, typos, wrong agreement or repetitions, and else as their words tell; there are none where the change
      should cost nothing. The text before the change beside another reference is an example without errors, once.
    - Triples of `nlgauge synth`: the errors are at the steps; -5 is major.

    Half of the examples should have no error, or a head marks every paraphrase. They come by themselves where an item
    has two references: from `nlgauge synth --paraphrase references`, and from pairs. Beside a copy of itself a text
    teaches only that what differs is wrong. Rows with `"spans": null` and `"faulty": true` or `false`, such as rated
    outputs, teach the layer that judges whole texts; with `"spans": []` and `"gaps": false` all words are right, and
    nobody knows whether something is missing.

    Raises:
        InputError: a row has another form, a text is blank, edits do not lead to the text, or there is no example; file
            and line are named.
    """
    clean: set[tuple[str, str]] = set()  # texts before a change, each of which stands in many pairs
    return read_rows(file, lambda row, where: _examples(row, where, clean), f"examples; {_SHAPE}")


def _examples(row: Any, where: str, clean: set[tuple[str, str]]) -> Iterator[SpanExample]:
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: {type(row).__name__}; {_SHAPE}")
    if "better" in row and "worse" in row:
        yield from _of_pair(row, where, clean)
    elif "steps" in row:
        yield from _of_triple(row, where)
    elif "spans" in row or "errors" in row:
        yield from _of_marks(row, where)
    else:
        raise InputError(f"{where}: fields are {', '.join(map(str, row))[:80]}; {_SHAPE}")


def _of_marks(row: Mapping[str, Any], where: str) -> Iterator[SpanExample]:
    errors = row["spans"] if "spans" in row else row["errors"]
    faulty, gaps = _flag(row, "faulty", None, where), _flag(row, "gaps", True, where)
    if errors is None and faulty is None:
        return
    text, spans = _text(row, "hyp", where), None
    if errors is not None:
        spans = tuple(span for span in errors_of(errors, where, len(text)) if span.side == "hyp")
        if spans and faulty is False:
            raise InputError(f"{where}: faulty is false, but spans has {len(spans)} errors; expected one or the other")
    for other in _others(row, where):
        yield SpanExample(text, other, spans, faulty, gaps is not False)


def _flag(row: Mapping[str, Any], name: str, default: bool | None, where: str) -> bool | None:
    value = row.get(name)
    if value is not None and not isinstance(value, bool):
        raise InputError(f"{where}: {name} is {value!r:.40}, expected true, false or null")
    return default if value is None else value


def _of_pair(row: Mapping[str, Any], where: str, clean: set[tuple[str, str]]) -> Iterator[SpanExample]:
    before, after = _text(row, "better", where), _text(row, "worse", where)
    meta = row.get("meta")
    edits = meta.get("edits") if isinstance(meta, Mapping) else None
    is_minor = row.get("criterion") == _FLUENCY or str(row.get("phenomenon")).partition(":")[0] in _MINOR
    severity: Severity | None = "minor" if is_minor else None
    # All have their places in the first text: from the last one on, none moves the place of another.
    placed = [PlacedEdit(*_cells(edit, where), severity) for edit in reversed(_list(edits, "meta.edits", where))]
    spans = () if row.get("expect") == "same" else _led(before, placed, after, where)
    for other in _others(row, where):
        yield SpanExample(after, other, spans)
        if other != before and (before, other) not in clean:
            clean.add((before, other))
            yield SpanExample(before, other, ())


def _of_triple(row: Mapping[str, Any], where: str) -> Iterator[SpanExample]:
    text, others = _text(row, "hyp", where), _others(row, where)
    placed = []
    for step in _list(row["steps"], "steps", where):
        if not isinstance(step, Mapping):
            raise InputError(f"{where}: a step is {step!r:.40}, expected an object with start, end, new and severity")
        severity = step.get("severity")
        if not isinstance(severity, int | float):
            raise InputError(f"{where}: severity of a step is {severity!r:.40}, expected a number")
        cells = [step.get(name) for name in ("start", "end", "new")]
        placed.append(PlacedEdit(*_cells(cells, where), "major" if severity <= _MAJOR else "minor"))
    original = _text(row, "original", where) if "original" in row else others[0]
    spans = _led(original, placed, text, where)
    for other in others:
        yield SpanExample(text, other, spans)


def _led(before: str, edits: Sequence[PlacedEdit], after: str, where: str) -> tuple[ErrorSpan, ...]:
    """The errors of a text that some edits lead to."""
    try:
        made, spans = spans_of_edits(before, edits)
    except InputError as fault:
        raise InputError(f"{where}: {fault}") from None
    if made != after:
        raise InputError(f"{where}: its edits lead to {made!r:.60}, and not to {after!r:.60}; was --legacy-join used?")
    return spans


def _others(row: Mapping[str, Any], where: str) -> list[str]:
    for name in ("ref", "refs", "against"):
        value = row.get(name)
        if value is not None:
            texts = [value] if isinstance(value, str) else value
            if not isinstance(texts, list) or not texts or any(not isinstance(t, str) or is_blank(t) for t in texts):
                raise InputError(f"{where}: {name} is {value!r:.40}, expected a text, or a list of texts")
            return list(dict.fromkeys(texts))
    raise InputError(f"{where}: there is no ref to compare the text with; {_SHAPE}")


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or is_blank(value):
        raise InputError(f"{where}: {name} is {value!r:.40}, expected a text that is not blank")
    return value


def _list(value: Any, name: str, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(
            f"{where}: {name} is {value!r:.40}, expected a list of edits, as JSON lines of nlgauge have it"
        )
    return value


def _cells(value: Any, where: str) -> tuple[int, int, str]:
    if isinstance(value, list) and len(value) == 3:
        start, end, new = value
        if type(start) is type(end) is int and isinstance(new, str):
            return start, end, new
    raise InputError(f"{where}: an edit is {value!r:.60}, expected start, end and new text")


# --- Where the errors of a text are that was changed edit by edit: the exact spans that rules and synthesis give


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
        words = WordedText.of(self.text).places
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
    for start, end in WordedText.of(text).places:
        found += [text[at:start], text[start:end]]
        at = end
    return [piece for piece in (*found, text[at:]) if piece]


def _severity(words: str) -> Severity:
    return "major" if any(map(carries_content, WordedText.of(words).lower)) else "minor"


# --- Training, from pairs of a text with known errors and one without


_HIDDEN = 64  # units between the vectors and the four outputs
_TEXT = 0.5  # weight of whole texts in the loss
_RARE = 5.0  # weight of places where something is missing, of which there is one in fifty
UNKNOWN = -100  # the label of a word, a place or a text of which nothing is known


@dataclass(frozen=True)
class MarkedPair:
    """A text with known errors, beside a text without.

    Attributes:
        words: the words of the text.
        others: the words of the other one.
        labels: 0 for a right word, 1 for part of a minor error, 2 for part of a major one, or `UNKNOWN`; as many as
            `words`.
        missing: 1 where something is missing before a word, and at last after all, or `UNKNOWN`; one more than `words`.
        faulty: whether the text has an error at all; None where labels and `missing` say so, or nobody knows.
    """

    words: Words
    others: Words
    labels: tuple[int, ...]
    missing: tuple[int, ...]
    faulty: bool | None = None

    def has_error(self) -> int:
        """1 for a text with an error, 0 for one without, `UNKNOWN` where neither is known."""
        if self.faulty is not None:
            return int(self.faulty)
        if max((*self.labels, *self.missing)) > 0:
            return 1
        return UNKNOWN if UNKNOWN in (*self.labels, *self.missing) else 0


class SpanNetwork(torch.nn.Module):
    """An encoder, and two layers on the vectors of chosen places beside their features."""

    def __init__(self, encoder: Any, width: int) -> None:
        super().__init__()
        self.encoder = encoder
        self._typed = reads_types(encoder)
        self.hidden = torch.nn.Linear(ALIGNED * width + 1 + FEATURES, _HIDDEN)
        self.out = torch.nn.Linear(_HIDDEN, len(OUTPUTS))
        self.text = torch.nn.Linear(POOLED * _HIDDEN, 1)

    def forward(
        self,
        inputs: dict[str, torch.Tensor],
        places: torch.Tensor,
        features: torch.Tensor,
        starts: torch.Tensor,
        read: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of places and of whole texts, float32, shapes (n, places, 4) and (n,).

        Args:
            inputs: of the encoder, for n pairs.
            places: the pieces that are judged, padded with 0, shape (n, places).
            features: of the places, shape (n, places, FEATURES).
            starts: the number of pieces before the judged text, shape (n,).
            read: False for padding among the places, shape (n, places).
        """
        if not self._typed:
            del inputs["token_type_ids"]
        states = self.encoder(**inputs)[0].float()
        with torch.autocast(states.device.type, enabled=False):
            vectors = states.gather(1, places[:, :, None].expand(-1, -1, states.shape[2]))
            most = int(starts.max())
            mask = torch.arange(most, device=states.device)[None] < starts[:, None]
            told = torch.cat([aligned(vectors, states[:, :most], mask), features], dim=2)
            hidden = torch.nn.functional.gelu(self.hidden(told))
            return self.out(hidden), self.text(pooled_units(hidden, read))[:, 0]


def train_spans(
    pairs: Sequence[MarkedPair],
    output: str | os.PathLike[str],
    recipe: Recipe,
    runtime: Runtime,
    *,
    about: Mapping[str, str] | None = None,
    dropout: float = 0.0,
    init: str | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> None:
    """Train a head and write it.

    The loss of a batch is the mean cross entropy of its words' severities, plus that of what is missing, plus that of
    whether a text has an error. A run that was stopped goes on, see `Checkpoint`. The thresholds of a new head are 0.5,
    which is much for one that learnt from few errors: `fix_thresholds` chooses them.

    Args:
        pairs: what is learnt from.
        output: a `.safetensors` file.
        recipe: encoder, rank of the adapters, longest pair and schedule.
        runtime: device, precision (bfloat16 or float32) and progress.
        about: more metadata of the head: name, recipe, data.
        dropout: of the encoder.
        init: a head to begin from: an earlier one of this kind, or an NLI head. Of the latter it takes what the
            adapters change, as nearly as the rank allows: `nli-robust` with rank 24 is how the head that comes with the
            package began.
        tell: called with lines about the progress.

    Raises:
        InputError: the encoder is neither BERT nor MPNet, or the output cannot be written; also what `locate` raises.
        MissingExtra: torch or peft is not installed.
    """
    check_precision(runtime)
    _check(pairs, os.fspath(output))
    files = trainable(locate(recipe.model, recipe.revision), runtime, "lora")
    read = read_words(PairTokenizer(files, recipe.max_tokens), [(pair.words, pair.others) for pair in pairs])
    labels = [_labels(pair, numbers) for pair, numbers in zip(pairs, read.words, strict=True)]
    faulty = torch.tensor([pair.has_error() for pair in pairs])
    device = torch_device(torch, runtime.device)
    network = adapted_network(
        lambda encoder: SpanNetwork(encoder, files.config["hidden_size"]),
        files,
        recipe.rank,
        recipe.alpha,
        dropout,
        recipe.schedule.seed,
        runtime.dtype == "bfloat16",
    )
    network.to(device).train()
    if init is not None:
        _begin(network, init, files)
    pad, rare = pad_of(files), torch.tensor(_RARE, device=device)
    cut = int(read.pairs.truncated.sum())
    tell(f"{len(pairs)} pairs, {read.pairs.lengths.mean():.1f} pieces each, {cut} cut, in {runtime.dtype}")

    def loss(where: Ids) -> torch.Tensor:
        inputs, places, features, starts, wanted, present = _batch(read, labels, where, pad, device)
        with arithmetic(device, runtime.dtype):
            logits, texts = network(inputs, places, features, starts, present)
        severity = torch.nn.functional.cross_entropy(
            logits[..., :3].flatten(0, 1), wanted[..., 0].flatten(), ignore_index=UNKNOWN, reduction="sum"
        )
        words = (wanted[..., 0] != UNKNOWN).sum().clamp(min=1)
        gap = _of_known(logits[..., 3], wanted[..., 1], rare)
        return severity / words + gap + _TEXT * _of_known(texts, faulty[where].to(device), None)

    with claimed(os.fspath(output)):
        data = sha256(repr(pairs).encode("utf-8", "surrogatepass")).hexdigest()  # a checkpoint of other data is refused
        own = f"{data} {beginning(init)} {dropout}"
        checkpoint = Checkpoint.beside(os.fspath(output), f"{run_line([], recipe, runtime, files)} {own}")
        fit_network(network, loss, read.pairs.lengths, recipe.schedule, checkpoint, runtime)
        metadata = {"outputs": ",".join(OUTPUTS), **head_metadata(KIND, recipe, files, runtime.dtype, about)}
        write_head(output, adapter_tensors(network.encoder) | own_tensors(network), metadata)
        checkpoint.done()


def _of_known(logits: torch.Tensor, wanted: torch.Tensor, weight: torch.Tensor | None) -> torch.Tensor:
    """The mean cross entropy of yes and no where the answer is known; 0 where none is."""
    known = wanted != UNKNOWN
    total = torch.nn.functional.binary_cross_entropy_with_logits(
        logits[known], wanted[known].float(), pos_weight=weight, reduction="sum"
    )
    return total / known.sum().clamp(min=1)


def _check(pairs: Sequence[MarkedPair], output: str) -> None:
    if not output.endswith(SUFFIX):
        raise InputError(f"{output}: a head is a file, expected a name that ends in .safetensors")
    check_target(output)
    if not pairs:
        raise InputError("no pairs to learn from, expected one or more")
    for number, pair in enumerate(pairs):
        n, labels, gaps = len(pair.words), len(pair.labels), len(pair.missing)
        if (labels, gaps) != (n, n + 1):
            raise InputError(
                f"pair {number} has {n} words with {labels} labels and {gaps} gaps, expected {n} labels and {n + 1}"
                " gaps"
            )


def _begin(network: SpanNetwork, init: str, files: ModelFiles) -> None:
    try:
        head = find_head(init, KIND)
    except InputError:
        head = find_head(init, "nli")
    else:
        own, _ = head.tensors()
        with torch.no_grad():
            for name, layer in (("hidden", network.hidden), ("out", network.out), ("text", network.text)):
                if f"{name}.weight" in own:  # heads made before judge no whole texts
                    layer.weight.copy_(own[f"{name}.weight"])
                    layer.bias.copy_(own[f"{name}.bias"])
    begin_adapters(network.encoder, head, files)


def _labels(pair: MarkedPair, numbers: Ids) -> Ids:
    """Severity and whether something is missing, of the places that were read, shape (places, 2)."""
    severities = np.array([*pair.labels, UNKNOWN], dtype=np.int64)
    return np.stack([severities[numbers], np.array(pair.missing, dtype=np.int64)[numbers]], axis=1)


def _batch(
    read: WordPairs, labels: Sequence[Ids], where: Ids, pad: int, device: torch.device
) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Inputs of the encoder, places, features, starts, labels and which places are read, of a batch, padded."""
    ids, types = zip(*(read.pairs.ids(int(i)) for i in where), strict=True)
    most = max(len(read.places[i]) for i in where)
    places = np.zeros((len(where), most), dtype=np.int64)
    features = np.zeros((len(where), most, FEATURES), dtype=np.float32)
    wanted = np.full((len(where), most, 2), UNKNOWN, dtype=np.int64)
    for row, i in enumerate(where):
        size = len(read.places[i])
        places[row, :size], features[row, :size], wanted[row, :size] = read.places[i], read.features[i], labels[i]
    present = np.arange(most)[None] < np.array([len(read.places[i]) for i in where])[:, None]
    made = (torch.from_numpy(part).to(device) for part in (places, features, read.starts[where], wanted, present))
    first, second, third, fourth, fifth = made
    return padded(ids, types, pad, device), first, second, third, fourth, fifth


# --- From which probability on a head marks: fixed on texts with known errors, and how well it then agrees with them


_WORDS = np.round(np.arange(0.06, 0.95, 0.03), 2)
_MISSING = np.round(np.arange(0.3, 0.96, 0.05), 2)
_NEVER = 0.999  # above what a head says of a gap: nothing is missing
_MOST = 0.01  # of texts without errors in which something may be called missing
_BOTH_SIDES = 0.9  # an interval that leaves out .05 above
_STEPS = 1000  # thresholds of texts are thousandths
_DIGITS = 6  # of an F; the last bits of a probability differ between processors, and no threshold may hang on them


@dataclass(frozen=True)
class SpanScore:
    """How well a head's marks agree with known errors.

    Attributes:
        name: of the texts.
        n: how many there are.
        f1, precision, recall: one to one, as `nlgauge.stats.one_to_one_counts` counts.
        left_clean: of the texts without errors, the share without a mark; NaN where there are none.
    """

    name: str
    n: int
    f1: float
    precision: float
    recall: float
    left_clean: float


class _Held:
    """Examples with what a head says of their words."""

    def __init__(self, head: str, examples: Sequence[SpanExample], runtime: Runtime) -> None:
        examples = [one for one in examples if one.spans is not None]
        if not examples:
            raise InputError("no example has known places of errors, expected one or more")
        self.model = load_spans(head, runtime.dtype, runtime)
        self.pairs = [(WordedText.of(one.text), WordedText.of(one.other)) for one in examples]
        self.judged: list[Judged] = self.model.judge([(a.words, b.words) for a, b in self.pairs])
        self.known = [one.spans or () for one in examples]

    def marks(self, limits: MarkThresholds) -> list[tuple[ErrorSpan, ...]]:
        return [
            marked_spans(text, [other], judged, limits)
            for (text, other), judged in zip(self.pairs, self.judged, strict=True)
        ]

    def score(self, name: str, limits: MarkThresholds) -> SpanScore:
        marks = self.marks(limits)
        found = span_agreement(one_to_one_counts(_places(self.known), _places(marks)))
        clean = float(share_of_totals(clean_counts(self.known, marks).sum(axis=0)))
        return SpanScore(name, len(marks), found.f1, float(found.precision), float(found.recall), clean)


def fix_thresholds(
    head: str | os.PathLike[str], examples: Sequence[SpanExample], runtime: Runtime, *, most_marked: float | None = None
) -> MarkThresholds:
    """Choose the thresholds of a head on texts with known errors, and write them into its file.

    That of words has the highest one-to-one F, in the mean with its neighbours on a grid. That of what is missing is
    the lowest at which at most 1 % of the texts without errors lack something; it is .5 where there are no such texts.
    What is rare in your texts and frequent in the examples is marked too often: take examples of your own kind.

    Args:
        head: the file.
        examples: texts that the head did not learn from.
        runtime: device and precision.
        most_marked: the largest share of texts without errors that may get a mark, in (0, 1). It fixes the threshold of
            whole texts: the lowest at which, with 95 % confidence, no larger share of such texts passes for faulty. If
            None, words of all texts are marked.

    Raises:
        InputError: there are no examples, too few without errors for `most_marked`, or the file is no such head or
            cannot be written.
    """
    if not examples:
        raise InputError("no examples to fix thresholds on, expected one or more")
    path = os.fspath(head)
    held = _Held(path, examples, runtime)
    right = [one.text for one, known in zip(held.judged, held.known, strict=True) if not known]
    text = 0.0 if most_marked is None else threshold_of_texts(right, most_marked)
    scores = np.array([held.score("", MarkThresholds(float(t), _NEVER, text)).f1 for t in _WORDS])
    around = np.convolve(np.pad(scores, 1, mode="edge"), np.ones(3) / 3, mode="valid").round(_DIGITS)
    words = float(_WORDS[len(around) - 1 - int(np.argmax(around[::-1]))])  # of equal ones the highest marks least
    clean = [one.missing.max() for one, known in zip(held.judged, held.known, strict=True) if not known]
    shares = [float(np.mean(np.array(clean) > t)) for t in _MISSING] if clean else []
    missing = next((float(t) for t, share in zip(_MISSING, shares, strict=False) if share <= _MOST), _NEVER)
    limits = MarkThresholds(words, missing if clean else 0.5, text)
    write_thresholds(path, limits)
    return limits


def threshold_of_texts(right: Sequence[float], most_marked: float) -> float:
    """The lowest threshold of whole texts at which, with 95 % confidence, few enough right texts pass for faulty.

    Args:
        right: of texts without errors, the probability of an error.
        most_marked: the largest share of them that may pass, in (0, 1).

    Raises:
        InputError: the share is out of range, or so few texts cannot show it.
    """
    if not 0 < most_marked < 1:
        raise InputError(f"most_marked is {most_marked!r}, expected a share between 0 and 1")
    n = len(right)
    allowed = [k for k in range(n) if wilson(k, n, _BOTH_SIDES)[1] <= most_marked]
    if not allowed:
        raise InputError(
            f"{n} texts without errors cannot show that at most {most_marked:g} of such texts get a mark; give more"
        )
    text = float(np.ceil(np.sort(right)[::-1][allowed[-1]] * _STEPS + 1) / _STEPS)
    return min(text, 1 - 1 / _STEPS)


def write_thresholds(head: str | os.PathLike[str], limits: MarkThresholds) -> None:
    """Write thresholds into the file of a head, in place of those that it has."""
    path = os.fspath(head)
    with safe_open(path, framework="pt") as file:
        about = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    about = {name: value for name, value in about.items() if name != "threshold_text"}
    fixed = {"threshold": limits.words, "threshold_missing": limits.missing}
    fixed |= {"threshold_text": limits.text} if limits.text else {}
    write_head(path, tensors, {**about, **{name: f"{value:g}" for name, value in fixed.items()}})


def score_spans(
    head: str | os.PathLike[str], examples: Sequence[SpanExample], runtime: Runtime, name: str = ""
) -> SpanScore:
    """How well the marks of a head agree with known errors, at its own thresholds.

    Args:
        head: the file.
        examples: texts with known errors.
        runtime: device and precision.
        name: what the examples are called.
    """
    held = _Held(os.fspath(head), examples, runtime)
    return held.score(name, thresholds(held.model))


def _places(spans: Sequence[Sequence[ErrorSpan]]) -> list[list[tuple[int, int]]]:
    return [[(span.start, span.end) for span in own if not span.missing] for own in spans]
