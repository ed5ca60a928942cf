"""Entailment between two texts: pairs as pieces, the files of NLI models, and what any NLI classifier says of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, by_value
from nlgauge.core.errors import InputError
from nlgauge.models.fetch import ENCODERS
from nlgauge.models.heads import Head, Headed, find_head, is_head
from nlgauge.models.locate import LazyModel, ModelFiles, locate
from nlgauge.models.repository import INSTEAD
from nlgauge.models.tokens import Ids, TextTokenizer, positions_of
from nlgauge.runtime.runtime import PAIRS, Runtime, by_length, dtype_and_device

if TYPE_CHECKING:
    from nlgauge.models.networks import AnswerNetwork, Classifier

_ONE_TEXT = 2048  # pieces that a model reads of two texts as one, as MiniCheck asks whatever its tokenizer says


@dataclass(frozen=True)
class Pairs:
    """Pairs of texts as pieces, which are joined only when they are needed.

    Attributes:
        sizes: the numbers of pieces kept of the first and the second text, shape (n, 2).
        lengths: the number of pieces of each pair, with its special tokens, shape (n,).
        truncated: whether pieces were cut off, shape (n,).
    """

    sides: Sequence[tuple[Ids, Ids]]
    sizes: Ids
    lengths: Ids
    truncated: npt.NDArray[np.bool_]
    tokenizer: PairTokenizer

    def ids(self, place: int) -> tuple[Ids, Ids]:
        """Ids and types of one pair, each of shape (T,)."""
        (first, second), (n, m) = self.sides[place], self.sizes[place]
        return self.tokenizer.join(first[:n], second[:m])


class PairTokenizer:
    """The tokenizer of a model that reads two texts at once.

    With `as_one` the two are joined as one text, with the model's last piece between them, as MiniCheck does.

    Attributes:
        max_tokens: the largest number of pieces of a pair, including special tokens; None if there is no limit.
        frame: the number of special tokens among them.
    """

    def __init__(self, files: ModelFiles, max_tokens: int | None = None, as_one: bool = False) -> None:
        # A text begins without a space, as the models were trained (bert_score's space is its own).
        self._texts = TextTokenizer(files, space=False)
        if as_one:
            ids = np.concatenate([self._texts.prefix, [-1], self._texts.suffix, [-2], self._texts.suffix])
            types = np.zeros_like(ids)
        else:
            ids, types = self._texts.pair_frame()
        # What the model was trained with is in the tokenizer's own frame, unless its configuration leaves types out by
        # name.
        if "token_type_ids" not in files.tokenizer_config.get("model_input_names", ["token_type_ids"]):
            types = np.zeros_like(types)
        first, second = ids.tolist().index(-1), ids.tolist().index(-2)
        self._parts = [ids[:first], ids[first + 1 : second], ids[second + 1 :]]
        self._types = [types[:first], types[first], types[first + 1 : second], types[second], types[second + 1 :]]
        self.frame = len(ids) - 2
        own = min(positions_of(files.config) or _ONE_TEXT, _ONE_TEXT) if as_one else self._texts.max_tokens
        limits = [n for n in (max_tokens, own) if n is not None]
        self.max_tokens = min(limits, default=None)
        if self.max_tokens is not None and self.max_tokens < self.frame + 2:
            raise InputError(
                f"max_tokens is {self.max_tokens}, expected at least {self.frame + 2}: the special tokens and a piece"
                " of each text"
            )

    @property
    def room(self) -> int | None:
        """The largest number of pieces that two texts may have together."""
        return None if self.max_tokens is None else self.max_tokens - self.frame

    def read(self, texts: Iterable[str]) -> dict[str, Ids]:
        """The pieces of each distinct text, without special tokens."""
        distinct = list(dict.fromkeys(texts))
        start = len(self._texts.prefix)
        # Nothing is cut before it is known what the other text leaves.
        encoded = self._texts.tokens(distinct, "windows")
        return {text: t.ids[start : start + t.n_content] for text, t in zip(distinct, encoded, strict=True)}

    def unknown_shares(self, contents: Iterable[Ids]) -> Array:
        """The share of unknown pieces in each text, shape (n,), from its pieces; see `TextTokenizer`."""
        return self._texts.unknown_shares(contents)

    def pairs(self, pairs: Sequence[tuple[str, str]], contents: Mapping[str, Ids]) -> Pairs:
        """Pairs of texts that have been read before.

        If two texts are too long together, the longer one is cut first, then both alike (`longest_first`).
        """
        return self.joined([(contents[first], contents[second]) for first, second in pairs])

    def joined(self, sides: Sequence[tuple[Ids, Ids]]) -> Pairs:
        """Pairs of texts that are given as their pieces; what is too long is cut as in `pairs`."""
        full = np.array([(len(first), len(second)) for first, second in sides], dtype=np.int64).reshape(-1, 2)
        sizes = full if self.room is None else _cut(full, self.room)
        cut = np.asarray((sizes < full).any(axis=1), dtype=np.bool_)
        return Pairs(sides, sizes, sizes.sum(axis=1) + self.frame, cut, self)

    def join(self, first: Ids, second: Ids) -> tuple[Ids, Ids]:
        """Ids and types of a pair, including special tokens, each of shape (T,)."""
        before, between, after = self._parts
        ids = np.concatenate([before, first, between, second, after])
        types = self._types
        kinds = [types[0], np.full(len(first), types[1]), types[2], np.full(len(second), types[3]), types[4]]
        return ids, np.concatenate(kinds)


def pair_tokenizer(files: ModelFiles, max_tokens: int | None, runtime: Runtime, as_one: bool = False) -> PairTokenizer:
    """The tokenizer of pairs; a runtime holds one copy."""
    key = ("pair tokenizer", files, max_tokens, as_one)
    return runtime.once(key, lambda: PairTokenizer(files, max_tokens, as_one))


def _cut(sizes: Ids, room: int) -> Ids:
    """Sizes of both texts, shape (n, 2), that fit the available room.

    If the room is odd the longer text gets one piece more; if both are equally long, the second one does.
    """
    short, long = sizes.min(axis=1), sizes.max(axis=1)
    long = np.minimum(long, np.where(short > room, short, np.maximum(short, room - short)))
    both = short + long > room
    short, long = np.where(both, room // 2, short), np.where(both, room - room // 2, long)
    first_longer = sizes[:, 0] > sizes[:, 1]
    return np.stack([np.where(first_longer, long, short), np.where(first_longer, short, long)], axis=1)


# --- Entailment between a premise and a hypothesis: probabilities from any NLI classifier

LABELS = ("entailment", "neutral", "contradiction")
_STEMS = ("entail", "neutral", "contradict")
TWO_LABELS = ("supported", "unsupported")  # of a fact checker
_OF_TWO = re.compile(r"(?P<negated>not|non|no|un|in)?[\W_]*(?P<stem>support|entail|consisten|hallucinat)")
# Number of a model's outputs -> its labels, and how to say their order.
_EXPECTED = {
    2: ("supported and unsupported", "a fact checker", "unsupported,supported"),
    3: ("entailment, neutral and contradiction", "an NLI model", "contradiction,neutral,entailment"),
}


@dataclass(frozen=True)
class NliFiles(Headed):
    """The files of an NLI model and the order of its labels. The model is not loaded.

    Attributes:
        files: the files of the checkpoint, or of the encoder under the head.
        head: the head; None for a checkpoint that has its own classifier.
        columns: the positions of entailment, neutral and contradiction among the model's outputs; of a model with two
            labels those of supported and unsupported.
    """

    files: ModelFiles
    head: Head | None
    columns: tuple[int, ...]

    @property
    def is_split(self) -> bool:
        """Whether the model splits what is not entailed into neutral and contradiction."""
        return len(self.columns) == len(LABELS)

    @property
    def trained_on(self) -> tuple[str, ...]:
        """Ids of the perturbations that the model was trained on, as far as its file says."""
        return () if self.head is None else self.head.items("trained_on_phenomena")

    def facts(self) -> dict[str, Any]:
        """The facts that identify the model, for a signature."""
        names = LABELS if self.is_split else TWO_LABELS
        labels = [label for _, label in sorted(zip(self.columns, names, strict=True))]
        facts: dict[str, Any] = {"labels": ",".join(labels)}
        if self.head is None:
            return {**facts, **self.files.facts()}
        return {**facts, **self.head.facts("file"), **self.files.facts(head=self.head.identity)}


def locate_nli(model: str, revision: str | None = None, labels: str | None = None) -> NliFiles:
    """Find the files of an NLI model.

    Args:
        model: `nli` or `nli-robust` (shipped heads), `nli-base` or `nli-robust-base` (on the encoder `base`), the file
            of a head, a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        labels: the labels of the model's outputs in order, as in "contradiction,entailment,neutral", or
            "unsupported,supported" of a fact checker. If None, they are read from the model.

    Raises:
        InputError: there is no such model, its outputs are neither these three labels nor these two, or it does not say
            which output is which label.
    """
    if is_head(model):
        if revision is not None:
            raise InputError(f"the head {model!r} has no revisions; leave revision out")
        head = find_head(model, "nli")
        return NliFiles(head.encoder, head, columns_of(head.items("labels"), model, labels))
    try:
        files = locate(model, revision)
    except InputError as error:  # what to take instead is another model than for an encoder
        raise InputError(
            str(error).replace(INSTEAD, ", or use model=nli for English, and model=nli-multi for others")
        ) from None
    if files.name in ENCODERS:
        raise InputError(f"the {files.name} encoder alone says nothing of entailment; model=nli is the head that ships")
    return NliFiles(files, None, columns_of(_names(files.config), model, labels))


def columns_of(names: Sequence[str], model: str, labels: str | None = None) -> tuple[int, ...]:
    """The positions of entailment, neutral and contradiction among three outputs, or of supported and unsupported.

    Of two outputs, the names may say the same in words such as entailment and not_entailment, consistent and
    hallucination.

    Args:
        names: the model's names of its outputs, in order.
        model: the model's name, for errors.
        labels: the labels that the user names.

    Raises:
        InputError: there are not two or three outputs, their names are not these labels, or the user's labels are
            others or contradict the names.
    """
    listed = ", ".join(names) or "none"
    if len(names) not in _EXPECTED:
        raise InputError(
            f"model {model!r} has {len(names)} labels ({listed}), expected entailment, neutral and contradiction, or"
            " supported and unsupported; is it an NLI model?"
        )
    expected, kind, order = _EXPECTED[len(names)]
    columns = _positions(names)
    said = None if labels is None else _positions(labels.split(","))
    if labels is not None and (said is None or len(said) != len(names)):
        raise InputError(
            f"labels is {labels!r}, expected {expected} in the order of the model's outputs ({listed}), with commas"
        )
    if columns is None and said is None:
        raise InputError(
            f"model {model!r} calls its labels {listed}, expected {expected}; if it is {kind}, say the order:"
            f' labels="{order}" (as its card has it)'
        )
    if columns is not None and said is not None and columns != said:
        raise InputError(
            f"model {model!r} calls its labels {listed}, in this order; labels={labels!r} says otherwise, leave it out"
        )
    found = columns or said
    assert found is not None
    return found


def _positions(names: Sequence[str]) -> tuple[int, ...] | None:
    """The positions of the three labels or the two, in any case and with any ending (entailment, ENTAILMENT, entailed).

    None if the names are neither.
    """
    folded = [name.strip().lower() for name in names]
    if len(folded) == len(TWO_LABELS):
        supported = [_says_supported(name) for name in folded]
        return (supported.index(True), supported.index(False)) if {*supported} == {True, False} else None
    candidates = [[i for i, name in enumerate(folded) if name.startswith(stem)] for stem in _STEMS]
    if len(folded) != len(LABELS) or any(len(places) != 1 for places in candidates):
        return None
    return tuple(places[0] for places in candidates)


def _says_supported(name: str) -> bool | None:
    """Whether a label says that a text is supported; None if it says neither this nor the contrary."""
    found = _OF_TWO.match(name)
    return None if found is None else (found["negated"] is not None) == (found["stem"] == "hallucinat")


def _names(config: Mapping[str, Any]) -> list[str]:
    """The names of a checkpoint's outputs in order. If its configuration has none, transformers assumes two outputs."""
    named = config.get("id2label")
    if not isinstance(named, dict):
        return [f"LABEL_{i}" for i in range(int(config.get("num_labels", 2)))]
    try:
        return [str(named[key]) for key in sorted(named, key=int)]
    except ValueError:
        return [str(name) for name in named.values()]


@by_value
@dataclass(frozen=True)
class Entailment:
    """A model's judgements of n pairs.

    Attributes:
        probabilities: probabilities of entailment, neutral and contradiction, shape (n, 3); each row sums to 1. A model
            with two labels gives the probability of supported, and NaN twice: the rest is not split.
        truncated: whether the pair was longer than the model's limit, shape (n,).
    """

    probabilities: Array
    truncated: npt.NDArray[np.bool_]


class HeldPairs:
    """A model's answers to the pairs that the metrics of one call asked about."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], int] = {}
        self._rows: Array = np.zeros((0, 4))  # three probabilities, and whether the pair was cut

    def unknown(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those pairs that were not asked before."""
        return [pair for pair in pairs if pair not in self._places]

    def add(self, pairs: Sequence[tuple[str, str]], found: Entailment) -> None:
        """Keep judgements of new pairs."""
        self._places |= {pair: place for place, pair in enumerate(pairs, len(self._places))}
        self._rows = np.vstack([self._rows, np.column_stack([found.probabilities, found.truncated])])

    def of(self, pairs: Sequence[tuple[str, str]]) -> Entailment:
        """The judgements of pairs, which all are known."""
        rows = self._rows[[self._places[pair] for pair in pairs]]
        return Entailment(rows[:, :3], rows[:, 3] > 0)


class NliModel(LazyModel[NliFiles, PairTokenizer, "Classifier | AnswerNetwork"]):
    """An NLI model with its tokenizer and its classifier.

    Attributes:
        held: the pairs that metrics of the call asked; None if there is one metric.
    """

    held: HeldPairs | None = None

    def judge(
        self,
        pairs: Sequence[tuple[str, str]],
        contents: Mapping[str, Ids] | None = None,
        advance: Callable[[int], None] = lambda count: None,
        *,
        alone: bool = False,
    ) -> Entailment:
        """Judge (premise, hypothesis) pairs. Equal pairs are judged once.

        Batches of other shapes may add numbers in another order. So the last digits of the probabilities can depend on
        the other pairs.

        Args:
            pairs: n pairs of texts.
            contents: the pieces of the texts, if `tokenizer.read` has already made them.
            advance: called with the number of pairs done.
            alone: run each pair in its own forward pass on one core. This is slow, but no result depends on the other
                pairs.
        """
        if self.held is not None and not alone:
            new = list(dict.fromkeys(self.held.unknown(pairs)))
            advance(len(pairs) - len(new))
            self.held.add(new, self._judged(new, contents, advance, alone))
            return self.held.of(pairs)
        return self._judged(pairs, contents, advance, alone)

    def _judged(
        self,
        pairs: Sequence[tuple[str, str]],
        contents: Mapping[str, Ids] | None,
        advance: Callable[[int], None],
        alone: bool,
    ) -> Entailment:
        number = {pair: i for i, pair in enumerate(dict.fromkeys(pairs))}
        distinct = list(number)
        places = np.fromiter((number[pair] for pair in pairs), dtype=np.int64, count=len(pairs))
        times = np.bincount(places, minlength=len(distinct))
        if contents is None:
            contents = self.tokenizer.read(text for pair in distinct for text in pair)
        prepared = self.tokenizer.pairs(distinct, contents)
        probabilities = np.full((len(distinct), len(LABELS)), np.nan)
        columns = self.found.columns if self.found.is_split else self.found.columns[:1]
        if distinct:
            network = self.network  # says that torch is missing, if it is
            from nlgauge.models.hub import side_by_side

            def work(batch: npt.NDArray[np.int64]) -> Array:
                ids, types = zip(*(prepared.ids(int(i)) for i in batch), strict=True)
                return softmax(network.logits(ids, types).numpy())

            batches = list(by_length(prepared.lengths, 1 if alone else self.budget or network.batch_tokens))
            judged = side_by_side(work, batches, network.device, one_core=alone)
            for batch, found in zip(batches, judged, strict=True):
                probabilities[batch, : len(columns)] = found[:, columns]
                advance(int(times[batch].sum()))  # the time left is that of all pairs
        return Entailment(probabilities[places], prepared.truncated[places])


def softmax(logits: npt.NDArray[Any]) -> Array:
    """Probabilities of each row, shape (n, k), in float64."""
    wide = logits.astype(np.float64)
    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def load_nli(
    model: str,
    revision: str | None,
    labels: str | None,
    dtype: str,
    runtime: Runtime,
    max_tokens: int | None = None,
    *,
    as_one: bool = False,
) -> NliModel:
    """Load an NLI model. A runtime holds one copy per precision.

    If both texts are read as one (see `PairTokenizer`), an encoder-decoder answers by one of two pieces.

    Raises:
        InputError: see `locate_nli`.
        MissingExtra: torch is not installed.
    """
    nli_files = locate_nli(model, revision, labels)
    limit = nli_files.max_tokens(max_tokens)
    head = None if nli_files.head is None else nli_files.head.identity
    key = ("nli", nli_files.files, head, dtype, runtime.device, as_one)
    loaded = NliModel(
        nli_files,
        pair_tokenizer(nli_files.files, limit, runtime, as_one),
        lambda: runtime.once(key, lambda: _network(nli_files, dtype, runtime.device, as_one)),
        runtime.token_budget,
    )
    shared = runtime.shared(PAIRS)
    if shared is not None:
        loaded.held = shared.setdefault((*key, nli_files.columns, limit), HeldPairs())
    return loaded


def _network(found: NliFiles, dtype: str, device: str, as_one: bool) -> Classifier | AnswerNetwork:
    kind, where = dtype_and_device(dtype, device, f"model {found.files.name!r}")
    from nlgauge.models.networks import AnswerNetwork, classifier, headed

    found.files.check()
    if as_one and found.files.is_paired:
        return AnswerNetwork(found.files, kind, where)
    return classifier(found.files, kind, where) if found.head is None else headed(found.head, kind, where)
