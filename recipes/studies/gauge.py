"""Which terms and weights should `gauge` and `gauge-rated` have? Chosen on all sets but one, and held against that one.

    python recipes/studies/gauge.py DATA --keep FOLDER [--encoder base] [--dtype bfloat16] [--sets NAME,...] > tables.md

DATA: the folder with the public sets of ratings and the suites. Of large sets every so manieth item is taken. FOLDER
keeps the values of the terms, a file a set, so that a run that was stopped goes on.

Each pair of an output and a reference has its terms; they are summed for each reference, and the highest sum counts, as
in `gauge`. `bertscore` is F, and its highest over references counts, too.

Printed is what sums have, set by set: those of the package, and that which has the highest `objective` on all other
sets. Sets of one family, such as the two suites of XPAWS, which attack the same sentences, are left out together.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

import nlgauge as ng
from nlgauge.core.suite import Pair
from nlgauge.metrics.learned.gauge import (
    CHRF,
    COSINE,
    NLI,
    RATED,
    RECALL,
    SCALES,
    SESCORE,
    WEIGHTS,
    WEIGHTS_RATED,
    F,
)
from nlgauge.metrics.registry import on_encoder
from nlgauge.stats.coefficients import kendall_b, pearson
from nlgauge.stats.preferences import soft_pairwise

Values = npt.NDArray[np.float64]
TERMS = (F, RECALL, COSINE, CHRF, SESCORE, RATED, NLI)
PLAIN: Sequence[Mapping[str, float]] = ({F: 1.0}, {CHRF: 1.0}, {RATED: 1.0})
SHIPPED = {"gauge": WEIGHTS["mt"], "gauge-rated": WEIGHTS_RATED}
# The sums that are tried for each: every choice of these weights, in deviations, with 1 for F and recall together.
GRIDS: Mapping[str, Mapping[str, Sequence[float]]] = {
    "gauge": {F: (0, 0.5, 1), RECALL: (0, 0.5, 1), **dict.fromkeys((COSINE, CHRF, SESCORE, NLI), (0, 0.5, 1))},
    "gauge-rated": {
        **{F: (0, 0.5, 1), RECALL: (0, 0.5, 1), RATED: (1, 2, 4, 8)},
        **{COSINE: (0, 0.5, 1), CHRF: (0, 0.5, 1), SESCORE: (0, 1), NLI: (0, 1)},
    },
}
HUMANS = ("refA", "refB")  # `ref-A` and `ref-B` in some sets
WORSE = (  # that an output is made worse by, for a suite like DEMETR
    "remove_punctuation,jumble_words,subject_verb_disagreement,typos,drop_stopwords,drop_phrases,add_extra_text,negation,"
    "antonyms,repeat_phrases,change_numbers,change_names,drop_named_entities,drop_adjectives,hyponyms,addition,omission,"
    "mismatch_noun,mismatch_verb,mismatch_adj,pronoun_error,name_error,change_gender"
).split(",")
MOST_OF_A_KIND = 60
FLUENCY = ("jumble_words", "typos", "subject_verb_disagreement")  # of XPAWS; the others change the meaning
PREFERRED, MEANING, SYSTEMS, RANKS = "better preferred", "meaning", "systems", "ranks"
OF_PAIRS = 0.1  # what a share of pairs counts: metrics differ by ten times as much as in agreement with people
FAMILY = {"XPAWS-fr": "XPAWS", "XPAWS-zh": "XPAWS", "WMT23": "he-en", "MSLC": "he-en"}  # these two share sources


@dataclass(frozen=True)
class Rated:
    """Outputs that people rated, of which some items are taken.

    Attributes:
        segments: the outputs, whose texts are scored against each of their references.
        criteria: criterion -> ratings, shape (n,).
        measures: what is measured: `item` is Kendall's tau-b between outputs for one input, `all` the same over all
            outputs, `pearson` the mean over groups, `systems` soft pairwise accuracy, and `ranks`, where each output
            is an item of its own, the pairs of outputs with one reference that are won less those that are lost.
    """

    segments: Sequence[ng.Segment]
    criteria: Mapping[str, Values]
    measures: Sequence[str]

    @property
    def texts(self) -> Iterator[tuple[str, str]]:
        """Outputs with references."""
        return ((s.hypothesis, reference) for s in self.segments for reference in s.references)

    def measured(self, values: Values) -> dict[str, Values]:
        """Measure -> agreement with people, shape (m,), of m values of each pair of `texts`, shape (m, pairs)."""
        x = np.maximum.reduceat(values, np.cumsum([0, *self.n_references])[:-1], 1)
        return {
            name: np.mean([self._one(name, x, z) for z in self.criteria.values()], axis=0) for name in self.measures
        }

    def _one(self, measure: str, x: Values, z: Values) -> Values:
        if measure == "systems":
            return self._systems(x, z)
        if measure == "all":
            return kendall_b(x, z)
        if measure == RANKS:
            return self._ranks(x, z)
        of, groups = (kendall_b, self._items) if measure == "item" else (pearson, self._groups)
        each = [of(x[:, groups == g], z[groups == g]) for g in range(groups.max() + 1)]
        judged = [np.ptp(z[groups == g]) > 0 for g in range(groups.max() + 1)]
        return np.nan_to_num(np.array(each)[judged]).mean(axis=0)

    def _systems(self, x: Values, z: Values) -> Values:
        systems = _numbered(s.system for s in self.segments)
        laid = np.full((len(x) + 1, systems.max() + 1, self._items.max() + 1), np.nan)
        laid[:, systems, self._items] = np.vstack([z[None], x])
        return soft_pairwise(np.nan_to_num(laid[1:]), np.nan_to_num(laid[0]), ~np.isnan(laid[0]), draws=500).values

    def _ranks(self, x: Values, z: Values) -> Values:
        texts = _numbered((s.group, s.references[0]) for s in self.segments)
        first, second = np.nonzero(np.triu(texts[:, None] == texts, 1))
        told = np.sign(z[first] - z[second])
        return (np.sign(x[:, first] - x[:, second]) * told).sum(axis=1) / np.count_nonzero(told)

    @cached_property
    def n_references(self) -> npt.NDArray[np.int64]:
        """Of each output, shape (n,)."""
        return np.array([len(s.references) for s in self.segments])

    @cached_property
    def _items(self) -> npt.NDArray[np.int64]:
        return _numbered(s.item for s in self.segments)

    @cached_property
    def _groups(self) -> npt.NDArray[np.int64]:
        return _numbered(s.group for s in self.segments)


@dataclass(frozen=True)
class Pairs:
    """Pairs of a better and a worse text, each compared with one reference."""

    pairs: Sequence[Pair]
    anchors: Sequence[str]

    @property
    def texts(self) -> Iterator[tuple[str, str]]:
        """The better texts with their references, and then the worse ones."""
        return (
            (getattr(p, side), a) for side in ("better", "worse") for p, a in zip(self.pairs, self.anchors, strict=True)
        )

    def measured(self, values: Values) -> dict[str, Values]:
        """Measure -> share of pairs whose better text has the higher value, mean over kinds of errors, shape (m,)."""
        better, worse = np.split(values, 2, axis=1)
        kinds = np.array([p.phenomenon for p in self.pairs])
        shares = {kind: (better > worse)[:, kinds == kind].mean(axis=1) for kind in dict.fromkeys(kinds)}
        found = {PREFERRED: np.mean(list(shares.values()), axis=0)}
        if set(FLUENCY) <= set(shares):
            found[MEANING] = np.mean([share for kind, share in shares.items() if kind not in FLUENCY], axis=0)
        return found


def _numbered(names: Iterable[object]) -> npt.NDArray[np.int64]:
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def _rated(folder: str, every: int, criteria: str, measures: Sequence[str], start: int = 0) -> Callable[[Path], Rated]:
    """Rated outputs of machines; of translations that experts judged the first reference alone, see `protocols.py`."""

    def read(data: Path) -> Rated:
        found = ng.read(data / folder if folder.endswith("mtme") else data / folder / "segments.jsonl.gz").segments
        rated = [s for s in found if s.human and str(s.system).replace("-", "") not in HUMANS]
        taken = set(list(dict.fromkeys(s.item for s in rated))[start::every])
        kept = [s for s in rated if s.item in taken]
        if criteria == "mqm":
            kept = [replace(s, references=s.references[:1]) for s in kept]
        names = sorted({name for s in kept for name in s.human}) if criteria == "all" else [criteria]
        return Rated(kept, {name: np.array([s.human[name] for s in kept]) for name in names}, measures)

    return read


def _checkpoints(data: Path) -> Rated:
    """Outputs of checkpoints, which get better with training; their names rise."""
    found = ng.read(data / "mslc23" / "segments.jsonl.gz").segments
    taken = set(list(dict.fromkeys(s.item for s in found))[::14])
    kept = [s for s in found if s.item in taken]
    return Rated(kept, {"training": np.array([float(str(s.system)) for s in kept])}, ("item",))


def _pairs(path: str, every: int = 1, start: int = 0) -> Callable[[Path], Pairs]:
    """Pairs of a suite; of those of summaries the source stands for the reference."""

    def read(data: Path) -> Pairs:
        found = [p for p in ng.read_suite(data / path).pairs if p.setup != "src"][start::every]
        return Pairs(found, [p.references[0] if p.references else p.source or "" for p in found])

    return read


def _made_worse(data: Path) -> Pairs:
    """Outputs of WMT15 above the mean, each beside itself with one error, against its reference: no rating is read
    but to take good outputs."""
    found = ng.read(data / "wmt15-da-seg" / "segments.jsonl.gz").segments
    kept = [s for s in found if s.human["da_z"] > 0][::2]
    texts, ids = [s.hypothesis for s in kept], [s.id for s in kept]
    pairs, anchors = [], []
    for kind in WORSE:
        made = zip(kept, ng.perturb(kind, texts, ids=ids, pool=texts), strict=True)
        changed = [(s, one.text) for s, one in made if one is not None][:MOST_OF_A_KIND]
        pairs += [Pair(id=f"{s.id}.{kind}", phenomenon=kind, better=s.hypothesis, worse=text) for s, text in changed]
        anchors += [s.references[0] for s, _ in changed]
    return Pairs(pairs, anchors)


ITEM_AND_SYSTEM, EVERY = ("item", "systems"), ("all", "item", "systems")
SETS: Mapping[str, Callable[[Path], Rated | Pairs]] = {
    "WMT16": _rated("wmt16-da-seg", 1, "da_z", ("pearson", RANKS)),
    "WMT21": _rated("wmt21-mqm-zh-en", 1, "mqm", ITEM_AND_SYSTEM),
    "TED": _rated("ted-mqm-zh-en", 1, "mqm", ITEM_AND_SYSTEM),
    "WMT22": _rated("wmt22-gemba-zh-en", 5, "mqm", ITEM_AND_SYSTEM),
    "WMT23": _rated("wmt23-he-en-mtme", 2, "mqm", ITEM_AND_SYSTEM),
    "MSLC": _checkpoints,
    "BAGEL": _rated("bagel", 1, "all", ("all", "item")),
    "SFHOT": _rated("sfhot", 4, "all", ("all", "item")),
    "WebNLG": _rated("webnlg2020-humaneval", 6, "all", EVERY),
    "HW-TSC": _pairs("hwtsc22/suite.jsonl.gz"),
    "BUMP": _pairs("bump/suite_task1.jsonl.gz", 4),
    "XPAWS-fr": _pairs("xpaws-fr-adv/adversarial.jsonl.gz", 3),
    "XPAWS-zh": _pairs("xpaws-zh-adv/adversarial.jsonl.gz", 3, 1),
    "WMT15 made worse": _made_worse,
}


def values_of(name: str, texts: Sequence[tuple[str, str]], keep: Path, encoder: str, runtime: ng.Runtime) -> Values:
    """The terms of the pairs of an output and a reference, shape (terms, pairs)."""
    file = keep / encoder / f"{name}.npy"
    if not file.exists():
        pairs = list(dict.fromkeys(texts))
        segments = tuple(ng.Segment(str(i), output, (reference,)) for i, (output, reference) in enumerate(pairs))
        specs = [on_encoder(term, encoder) for term in TERMS]
        scored = ng.score(ng.Dataset(segments, name), metrics=specs, runtime=runtime, guards="off")
        columns = [scored[spec].values for spec in specs]
        places = {pair: i for i, pair in enumerate(pairs)}
        made = np.stack(columns)[:, [places[pair] for pair in texts]]
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_suffix(f".{os.getpid()}.npy")
        np.save(beside, made)
        os.replace(beside, file)
    with file.open("rb") as held:
        return np.load(held, allow_pickle=False)


def rows(sums: Iterable[Mapping[str, float]], encoder: str) -> Values:
    """Weights of the values of terms, shape (sums, terms), for weights in deviations."""
    return np.array([[of.get(term, 0.0) / SCALES[encoder][term][2] for term in TERMS] for of in sums])


def tried(grid: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    """The sums of a grid."""
    choices = (dict(zip(grid, weights, strict=True)) for weights in product(*grid.values()))
    return [{t: w for t, w in choice.items() if w} for choice in choices if choice[F] + choice[RECALL] == 1]


def objective(gains: Mapping[tuple[str, str], Values]) -> Values:
    """Mean gain over sets, shape (sums,): what is lost counts twice. Systems and ranks are too few to choose by."""
    sets: dict[str, list[Values]] = {}
    for (name, measure), gain in gains.items():
        if measure not in (MEANING, SYSTEMS, RANKS):
            sets.setdefault(name, []).append(
                np.where(gain < 0, 2 * gain, gain) * (OF_PAIRS if measure == PREFERRED else 1)
            )
    return np.mean([np.mean(of_set, axis=0) for of_set in sets.values()], axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--keep", type=Path, required=True, help="folder for the values of terms")
    parser.add_argument("--sets", help="some of the sets, with commas")
    parser.add_argument("--encoder", default="embedded")
    parser.add_argument("--dtype", default="float32")
    given = parser.parse_args()
    runtime = ng.Runtime(dtype=given.dtype)
    grids = {name: tried(grid) for name, grid in GRIDS.items()}
    weights = rows([*PLAIN, *SHIPPED.values(), *grids["gauge"], *grids["gauge-rated"]], given.encoder)
    found: dict[tuple[str, str], Values] = {}
    for name in given.sets.split(",") if given.sets else SETS:
        read = SETS[name](given.data)
        values = values_of(name, list(read.texts), given.keep, given.encoder, runtime)
        found |= {(name, measure): each for measure, each in read.measured(weights @ values).items()}
    report(grids, found)


def report(grids: Mapping[str, Sequence[Mapping[str, float]]], found: Mapping[tuple[str, str], Values]) -> None:
    """A row a set and measure: metrics alone, the sums of the package, and what was chosen without the set.

    Args:
        grids: name -> the sums that are tried for it.
        found: set and measure -> values of the metrics alone, the sums of the package, and those of each grid in turn.
    """
    gains = {key: of_set - of_set[0] for key, of_set in found.items()}
    fixed = len(PLAIN) + len(SHIPPED)
    starts = dict(zip(grids, np.cumsum([fixed, *map(len, grids.values())]), strict=False))
    for place, (name, sums) in enumerate(grids.items()):
        values = objective(gains)
        own = values[starts[name] : starts[name] + len(sums)]
        best = _named(sums[int(own.argmax())])
        print(f"{name}: objective {values[len(PLAIN) + place]:+.4f}; best {own.max():+.4f}, {best}\n")
    head = [*(_named(of) for of in PLAIN), *SHIPPED, *(f"{name}, chosen on the others | which" for name in grids)]
    print(f"| set | measure | {' | '.join(head)} |\n|---|---|{'---:|' * fixed}{'---:|---|' * len(grids)}")
    for set_name, measure in gains:
        family = FAMILY.get(set_name, set_name)
        others = objective({key: gain for key, gain in gains.items() if FAMILY.get(key[0], key[0]) != family})
        cells = [f"{value:.3f}" for value in found[set_name, measure][:fixed]]
        for name, sums in grids.items():
            choice = int(np.argmax(others[starts[name] : starts[name] + len(sums)]))
            cells += [f"{found[set_name, measure][starts[name] + choice]:.3f}", _named(sums[choice])]
        print(f"| {set_name} | {measure} | {' | '.join(cells)} |")


def _named(weights: Mapping[str, float]) -> str:
    short = {NLI: "nli-robust", RECALL: "recall"}
    return " + ".join(f"{weight:g} {short.get(term, term)}".removeprefix("1 ") for term, weight in weights.items())


if __name__ == "__main__":
    main()
