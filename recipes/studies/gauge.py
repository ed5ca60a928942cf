"""Which terms and weights should `gauge` have? Chosen on all sets but one, and held against that one.

    python recipes/studies/gauge.py DATA --keep FOLDER [--encoder base] [--sets NAME,...] > tables.md

DATA: the folder with the public sets of `rated` and `suites`. Of large sets every so manieth item is taken. FOLDER
keeps the values of the terms, a file a set, so that a run that was stopped goes on.

Each pair of an output and a reference has its terms; they are summed for each reference, and the highest sum counts, as
in `gauge`. `bertscore` is F, and its highest over references counts, too.

Printed is what sums gain on `bertscore`, set by set: that of `gauge`, and that which has the highest `objective` on all
other sets. Sets of one family, such as the two suites of XPAWS, which attack the same sentences, are left out together.
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
from scipy.stats import ttest_1samp

import nlgauge as ng
from nlgauge.core.suite import Pair
from nlgauge.metrics.learned.gauge import CHRF, COSINE, NLI, RATED, RATED_WEIGHT, RECALL, SCALES, SESCORE, WEIGHTS, F
from nlgauge.metrics.registry import on_encoder
from nlgauge.stats.coefficients import kendall_b, pearson
from nlgauge.stats.preferences import soft_pairwise

Values = npt.NDArray[np.float64]
AGAINST = "nli-robust:formula=-c,direction=both"
TERMS = (F, RECALL, COSINE, CHRF, SESCORE, RATED, NLI, AGAINST)
CLOSE, CLOSER = "contradiction where texts match", "the same, squared"  # made of F and AGAINST, see `derived`
DEVIATION = 0.178  # of AGAINST, which is no term of `gauge` and has no scale there
# The sums that are tried: every choice of these weights, in deviations.
GRID: Mapping[str, Sequence[float]] = {
    F: (0.5, 1),
    RECALL: (0, 0.5),
    COSINE: (0, 0.5, 1),
    CHRF: (0, 0.5),
    SESCORE: (0, 0.5, 1),
    NLI: (0, 0.5, 1),
    CLOSE: (0, 0.5, 1),
    CLOSER: (0, 0.5, 1),
    AGAINST: (0, 0.5, 1),
}
HUMANS = ("refA", "refB")  # `ref-A` and `ref-B` in some sets
LEAST = 0.15  # gain that is asked for in suites of attacks
FLUENCY = ("jumble_words", "typos", "subject_verb_disagreement")  # of XPAWS; the others change the meaning
ATTACKS = ("XPAWS-fr", "XPAWS-zh")
FAMILY = {"XPAWS-fr": "XPAWS", "XPAWS-zh": "XPAWS", "WMT23": "he-en", "MSLC": "he-en"}  # these two share sources


@dataclass(frozen=True)
class Rated:
    """Outputs that people rated, of which some items are taken.

    Attributes:
        segments: the outputs, whose texts are scored against each of their references.
        criteria: criterion -> ratings, shape (n,).
        measures: what is measured: `item` is Kendall's tau-b between outputs for one input, `all` the same over all
            outputs, `pearson` the mean over groups, and `systems` soft pairwise accuracy.
    """

    segments: Sequence[ng.Segment]
    criteria: Mapping[str, Values]
    measures: Sequence[str]

    @property
    def texts(self) -> Iterator[tuple[str, str]]:
        """Outputs with references."""
        return ((s.hypothesis, reference) for s in self.segments for reference in s.references)

    def measured(self, values: Values, mean: bool = False) -> dict[str, Values]:
        """Measure -> agreement with people, shape (m,), of m values of each pair of `texts`, shape (m, pairs).

        Of several references the best counts, or the mean.
        """
        starts = np.cumsum([0, *self.n_references])[:-1]
        x = np.add.reduceat(values, starts, 1) / self.n_references if mean else np.maximum.reduceat(values, starts, 1)
        return {
            name: np.mean([self._one(name, x, z) for z in self.criteria.values()], axis=0) for name in self.measures
        }

    def _one(self, measure: str, x: Values, z: Values) -> Values:
        if measure == "systems":
            return self._systems(x, z)
        if measure == "all":
            return kendall_b(x, z)
        of, groups = (kendall_b, self._items) if measure == "item" else (pearson, self._groups)
        each = [of(x[:, groups == g], z[groups == g]) for g in range(groups.max() + 1)]
        judged = [np.ptp(z[groups == g]) > 0 for g in range(groups.max() + 1)]
        return np.nan_to_num(np.array(each)[judged]).mean(axis=0)

    def _systems(self, x: Values, z: Values) -> Values:
        systems = _numbered(s.system for s in self.segments)
        laid = np.full((len(x) + 1, systems.max() + 1, self._items.max() + 1), np.nan)
        laid[:, systems, self._items] = np.vstack([z[None], x])
        return soft_pairwise(np.nan_to_num(laid[1:]), np.nan_to_num(laid[0]), ~np.isnan(laid[0]), draws=500).values

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
        found = {"better preferred": np.mean(list(shares.values()), axis=0)}
        if set(FLUENCY) <= set(shares):
            found["meaning"] = np.mean([share for kind, share in shares.items() if kind not in FLUENCY], axis=0)
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
        kept = [s if s.references else replace(s, references=(s.source or "",)) for s in kept]
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


ITEM_AND_SYSTEM, EVERY = ("item", "systems"), ("all", "item", "systems")
SETS: Mapping[str, Callable[[Path], Rated | Pairs]] = {
    "WMT16": _rated("wmt16-da-seg", 2, "da_z", ("pearson",)),
    "WMT21": _rated("wmt21-mqm-zh-en", 4, "mqm", ITEM_AND_SYSTEM),
    "TED": _rated("ted-mqm-zh-en", 4, "mqm", ITEM_AND_SYSTEM),
    "WMT22": _rated("wmt22-gemba-zh-en", 15, "mqm", ITEM_AND_SYSTEM),
    "WMT23": _rated("wmt23-he-en-mtme", 6, "mqm", ITEM_AND_SYSTEM),
    "MSLC": _checkpoints,
    "BAGEL": _rated("bagel", 1, "all", ("all", "item")),
    "SFHOT": _rated("sfhot", 4, "all", ("all", "item")),
    "WebNLG": _rated("webnlg2020-humaneval", 6, "all", EVERY),
    "SummEval": _rated("summeval", 5, "all", ITEM_AND_SYSTEM),
    "QAGS": _rated("qags-cnn", 1, "fact", ("pearson",)),
    "HW-TSC": _pairs("hwtsc22/suite.jsonl.gz"),
    "BUMP": _pairs("bump/suite_task1.jsonl.gz", 4),
    "XPAWS-fr": _pairs("xpaws-fr-adv/adversarial.jsonl.gz", 3),
    "XPAWS-zh": _pairs("xpaws-zh-adv/adversarial.jsonl.gz", 3, 1),
}


def values_of(name: str, texts: Sequence[tuple[str, str]], keep: Path, encoder: str, runtime: ng.Runtime) -> Values:
    """The terms of the pairs of an output and a reference, shape (terms, pairs)."""
    file = keep / encoder / f"{name}.npy"
    if not file.exists():
        pairs = list(dict.fromkeys(texts))
        segments = tuple(ng.Segment(str(i), output, (reference,)) for i, (output, reference) in enumerate(pairs))
        specs = {term: on_encoder(term, encoder) for term in (F, COSINE, CHRF, SESCORE, RATED, NLI)}
        scored = ng.score(ng.Dataset(segments, name), metrics=list(specs.values()), runtime=runtime, guards="off")
        of_f, of_nli = scored[specs[F]].parts, scored[specs[NLI]].parts
        parts = {RECALL: of_f["recall"], AGAINST: -of_nli["c"]}
        columns = [parts[term] if term in parts else scored[specs[term]].values for term in TERMS]
        places = {pair: i for i, pair in enumerate(pairs)}
        made = np.stack(columns)[:, [places[pair] for pair in texts]]
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_suffix(f".{os.getpid()}.npy")
        np.save(beside, made)
        os.replace(beside, file)
    with file.open("rb") as held:
        return np.load(held, allow_pickle=False)


def sums(deviations: Mapping[str, float]) -> tuple[list[dict[str, float]], Values]:
    """The sums that are tried, term -> weight in deviations, and the weights of the values, shape (sums, terms)."""
    choices = (dict(zip(GRID, weights, strict=True)) for weights in product(*GRID.values()))
    tried = [
        {t: w for t, w in choice.items() if w}
        for choice in choices
        if choice[F] + choice[RECALL] == 1 and sum(choice[t] > 0 for t in (NLI, AGAINST, CLOSE, CLOSER)) < 2
    ]
    return tried, np.array([[of.get(t, 0.0) / deviations[t] for t in (*TERMS, CLOSE, CLOSER)] for of in tried])


def derived(values: Values, low: float) -> Values:
    """The terms with those made of them, shape (terms + 2, pairs).

    Contradiction counts as far as the texts match: from not at all where F is no higher than that of unrelated
    sentences, `low`, to in full for a copy.
    """
    close = np.clip((values[TERMS.index(F)] - low) / (1 - low), 0, 1)
    told = values[TERMS.index(AGAINST)]
    return np.vstack([values, told * close, told * close**2])


def objective(gains: Mapping[tuple[str, str], Values]) -> Values:
    """Mean gain in agreement with people, shape (sums,): a set counts once, and what is lost counts twice.

    A sum that does not see through attacks more often by `LEAST` loses what it lacks; so does one that prefers the
    better of two ordinary texts less often.
    """
    agreement: dict[str, list[Values]] = {}
    lacking = np.zeros(len(next(iter(gains.values()))))
    for (name, measure), gain in gains.items():
        if measure == "better preferred":
            lacking += np.maximum((LEAST if name in ATTACKS else 0) - gain, 0)
        elif measure != "meaning":
            agreement.setdefault(name, []).append(np.where(gain < 0, 2 * gain, gain))
    return np.mean([np.mean(of_set, axis=0) for of_set in agreement.values()], axis=0) - lacking


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--keep", type=Path, required=True, help="folder for the values of terms")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--encoder", default="embedded")
    parser.add_argument("--dtype", default="float32")
    given = parser.parse_args()
    runtime, scales = ng.Runtime(dtype=given.dtype), SCALES[given.encoder]
    deviations = {term: scales[term][2] if term in scales else DEVIATION for term in TERMS}
    deviations |= dict.fromkeys((CLOSE, CLOSER), deviations[AGAINST])
    tried, weights = sums(deviations)
    contradicted = {AGAINST if term == NLI else term: weight for term, weight in WEIGHTS["mt"].items()}
    shipped = [{F: 1.0}, WEIGHTS["mt"], {**WEIGHTS["mt"], RATED: RATED_WEIGHT}, contradicted]
    rows = np.array([[of.get(term, 0.0) / deviation for term, deviation in deviations.items()] for of in shipped])
    found: dict[tuple[str, str], Values] = {}
    averaged: dict[tuple[str, str], float] = {}  # `gauge` with the mean of several references
    for name in given.sets.split(","):
        read = SETS[name](given.data)
        values = derived(values_of(name, list(read.texts), given.keep, given.encoder, runtime), scales[F][0])
        found |= {(name, measure): each for measure, each in read.measured(np.vstack([rows, weights]) @ values).items()}
        if isinstance(read, Rated) and read.n_references.max() > 1:
            of_mean = read.measured(rows[1:2] @ values, mean=True)
            averaged |= {(name, measure): float(each[0]) for measure, each in of_mean.items()}
    report(tried, found, averaged)


def report(
    tried: Sequence[Mapping[str, float]],
    found: Mapping[tuple[str, str], Values],
    averaged: Mapping[tuple[str, str], float],
) -> None:
    """A row a set and measure: BERTScore, the shipped sums, and what was chosen without the set; then means over sets.

    Args:
        tried: the sums that are tried.
        found: set and measure -> values of BERTScore, `gauge`, `gauge-rated`, `gauge` with the absence of contradiction
            in place of entailment, and of each sum.
        averaged: set and measure -> value of `gauge` with the mean of the references, where a text has several.
    """
    gains = {key: of_set - of_set[0] for key, of_set in found.items()}
    print("best on all:", _named(tried[int(np.argmax(objective({key: gain[4:] for key, gain in gains.items()})))]))
    print("\n| set | measure | bertscore | gauge | its mean | gauge-rated | with -c | chosen on the others | which |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---|")
    held: dict[tuple[str, str], float] = {}
    for name, measure in gains:
        family = FAMILY.get(name, name)
        others = {key: gain[4:] for key, gain in gains.items() if FAMILY.get(key[0], key[0]) != family}
        choice = int(np.argmax(objective(others)))
        held[name, measure] = gains[name, measure][4 + choice]
        cells = [f"{value:.3f}" for value in (*found[name, measure][:4], found[name, measure][4 + choice])]
        cells.insert(2, f"{averaged[name, measure]:.3f}" if (name, measure) in averaged else "")
        print(f"| {name} | {measure} | {' | '.join(cells)} | {_named(tried[choice])} |")
    print("\n| gain, mean over sets | sets | gauge | gauge-rated | with -c | chosen on the others |")
    print("|---|---:|---:|---:|---:|---:|")
    for measure in dict.fromkeys(measure for _, measure in gains):
        keys = [key for key in gains if key[1] == measure]
        columns = [*([gains[key][i] for key in keys] for i in (1, 2, 3)), [held[key] for key in keys]]
        print(f"| {measure} | {len(keys)} | {' | '.join(map(_mean, columns))} |")


def _mean(gains: Sequence[float]) -> str:
    """The mean over sets and p of a t-test against 0."""
    p = f" (p = {ttest_1samp(gains, 0).pvalue:.2f})" if len(gains) > 1 else ""
    return f"{np.mean(gains):+.3f}{p}"


def _named(weights: Mapping[str, float]) -> str:
    short = {NLI: "nli-robust", AGAINST: "nli-robust, -c", RECALL: "recall", CLOSE: "-c, close", CLOSER: "-c, closer"}
    return " + ".join(f"{weight:g} {short.get(term, term)}" for term, weight in weights.items())


if __name__ == "__main__":
    main()
