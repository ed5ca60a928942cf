"""A head's classifier taught again on pairs of translations, its adapters left as they are; what that gains and costs:

    python top.py DATA PAIRS --rules FILE --features FOLDER [--no-tests] [--only PART] [--leave-out KIND ...]

PAIRS: from translations.py. RULES: rule-made pairs of another seed than those of the training (`rules.py ... 14 --share
0.04`). DATA holds nli/, mlqe-pe/, xpaws-fr-adv/, hwtsc22/ and wmt16-da-seg/. Every pair of texts goes through the
encoder once, and its vectors stay in FOLDER; `--only` makes one part of them (train, development, tests) and stops. A
row of the table is a share of the way from the classifier of nli-robust to the new one.

Development sets: snli.dev (its first 1,500 pairs), cfnli.dev, the rule-made pairs, the twelve attacks on Estonian
sentences that MLQE-PE has two references of (one is the paraphrase), and the ratings of their outputs. Tests: every
third pair of XPAWS-fr, HW-TSC, and every third segment of WMT16. All values are of `both-geometric`.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

import nlgauge as ng
from nlgauge.audits.preference import ADEQUACY, FLUENCY
from nlgauge.core.arrays import Array
from nlgauge.io import InputFile
from nlgauge.models.entailment import load_nli
from nlgauge.runtime.runtime import by_length
from nlgauge.training.nli import read_pairs

HEAD, SHORT, ATTACKED, SEED = "nli-robust", 1500, 80, 15
EVERY, TESTED = 4, 3  # every fourth pair is learnt, every third of XPAWS-fr and of WMT16 tested
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
Pairs = Sequence[tuple[str, str]]
Told = Callable[[Pairs], Array]  # pairs of texts -> probabilities, shape (n, 3)


class Vectors:
    """What the classifier of a head reads of each pair."""

    def __init__(self, folder: Path, head: str) -> None:
        self.folder, self.known = folder, dict[tuple[str, str], Array]()
        self.model = load_nli(head, None, None, "float32", ng.Runtime(dtype="float32", device="cpu"))
        for path in sorted(folder.glob("*.npz")):
            held = np.load(path)
            self.known |= zip(map(tuple, held["pairs"].tolist()), held["vectors"], strict=True)

    def add(self, name: str, pairs: Pairs) -> None:
        """Encode the pairs that are new, and keep them as FOLDER/NAME.npz."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.known]
        if not new:
            return
        network: Any = self.model.network
        old, network._out = network._out, (torch.eye(768), torch.zeros(768))
        prepared = self.model.tokenizer.pairs(new, self.model.tokenizer.read(text for pair in new for text in pair))
        vectors = np.zeros((len(new), 768), dtype=np.float32)
        for batch in by_length(prepared.lengths, network.batch_tokens):
            ids, types = zip(*(prepared.ids(int(i)) for i in batch), strict=True)
            vectors[batch] = network.logits(ids, types).numpy()
        network._out = old
        self.known |= zip(new, vectors, strict=True)
        np.savez(self.folder / f"{name}.npz", pairs=np.array(new), vectors=vectors)

    def of(self, pairs: Pairs) -> torch.Tensor:
        return torch.from_numpy(np.stack([self.known[pair] for pair in pairs]))

    def classifier(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Weight and bias of the head, its labels in our order."""
        weight, bias = self.model.network._out  # type: ignore[attr-defined]
        columns = list(self.model.found.columns)
        return weight[columns], bias[columns]


def labelled(paths: Sequence[Path]) -> dict[str, tuple[Pairs, Array]]:
    found = {}
    for path in paths:
        rows = read_pairs(InputFile(str(path)))[:SHORT]
        found[path.name.removesuffix(".jsonl.gz")] = [row[:2] for row in rows], np.array([row.label for row in rows])
    return found


def development(data: Path, rules: Path) -> tuple[dict[str, tuple[Pairs, Array]], list[ng.Pair], ng.Dataset]:
    """The labelled pairs, the attacks on MLQE-PE, and its ratings."""
    mlqe = ng.read(data / "mlqe-pe" / "segments_multiref_et-en.jsonl.gz")
    unsourced = ng.Dataset(tuple(replace(s, source=None) for s in mlqe), "MLQE")
    attacked = held_against(ng.suite("menli", unsourced, task="mt", limit=ATTACKED))
    dev = labelled([*(data / "nli" / f"{name}.dev.jsonl.gz" for name in ("snli", "cfnli")), rules])
    return dev, attacked, unsourced


def both(reference: str, text: str) -> list[tuple[str, str]]:
    return [(reference.strip(), text.strip()), (text.strip(), reference.strip())]


def value(told: Told, asked: Sequence[tuple[str, str]]) -> Array:
    """The geometric mean of both directions of (reference, text), shape (n,)."""
    e = told([pair for one in asked for pair in both(*one)])[:, 0].reshape(-1, 2)
    return np.sqrt(np.asarray(e.prod(axis=1)))


def held_against(suite: ng.Suite, step: int = 1) -> list[ng.Pair]:
    return [pair for pair in suite if pair.setup != "src" and pair.references][::step]


def asked_of(pairs: Sequence[ng.Pair], rated: Sequence[ng.Segment] = ()) -> list[tuple[str, str]]:
    asked = [(p.references[0], text) for p in pairs for text in (p.better, p.worse)]
    return [*asked, *((s.references[0], s.hypothesis) for s in rated)]


def attacks(name: str, pairs: Sequence[ng.Pair], told: Told) -> dict[str, float]:
    """Accuracy, ties lost: means over the phenomena of meaning and of fluency; of other suites over all pairs."""
    better, worse = (
        value(told, [(p.references[0], t) for p, t in zip(pairs, x, strict=True)])
        for x in zip(*((p.better, p.worse) for p in pairs), strict=True)
    )
    won = better > worse
    kinds = np.array([p.phenomenon for p in pairs])
    of = {kind: float(won[kinds == kind].mean()) for kind in dict.fromkeys(kinds)}
    if not set(FLUENCY) & set(of):
        return {f"{name}: all": float(won.mean())}
    means = {"adequacy": [k for k in ADEQUACY if k in of], "fluency": [k for k in FLUENCY if k in of]}
    shown = ("addition", "omission", "jumble_words", "subject_verb_disagreement", "typos")
    return {f"{name}: {k}": of[k] for k in shown} | {
        f"{name}: {k}": sum(of[x] for x in kinds_) / len(kinds_) for k, kinds_ in means.items()
    }


def agreement(name: str, rated: ng.Dataset, told: Told) -> dict[str, float]:
    scores = value(told, [(s.references[0], s.hypothesis) for s in rated])
    stats = ["pearson", "kendall_b"]
    rows = ng.meta_evaluate(rated, scores={"nli": scores}, criterion="da_z", stats=stats, intervals="none").rows
    grouped = any(row["group"] == "mean" for row in rows)
    return {f"{name}: {row['stat']}": row["value"] for row in rows if row["group"] == "mean" or not grouped}


def fitted(x: torch.Tensor, y: torch.Tensor, start: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """A linear classifier that begins from `start`: 30 passes of AdamW over batches of 64."""
    weight, bias = (part.clone().requires_grad_() for part in start)
    optimiser = torch.optim.AdamW([weight, bias], lr=1e-3, weight_decay=0.01)
    drawn = torch.Generator().manual_seed(SEED)
    for _ in range(30):
        for at in torch.randperm(len(y), generator=drawn).split(64):
            optimiser.zero_grad()
            functional.cross_entropy(functional.linear(x[at], weight, bias), y[at]).backward()
            optimiser.step()
    return weight.detach(), bias.detach()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--rules", type=Path, required=True)
    parser.add_argument("--features", type=Path, required=True)
    parser.add_argument("--start", default=HEAD, help="the head whose classifier is taught again")
    parser.add_argument("--only", choices=("train", "development", "tests"))
    parser.add_argument("--leave-out", nargs="*", default=[], help="kinds of pairs that are not learnt")
    parser.add_argument("--no-tests", action="store_true", help="only the development sets")
    given = parser.parse_args()
    data = given.data
    torch.manual_seed(SEED)
    vectors = Vectors(given.features, given.start)
    rows = read_pairs(InputFile(str(given.pairs)))[::EVERY]
    dev, attacked, unsourced = development(data, given.rules)
    suites = {
        "MLQE": attacked,
        "XPAWS-fr": held_against(ng.read_suite(data / "xpaws-fr-adv" / "adversarial.jsonl.gz"), TESTED),
        "HW-TSC": held_against(ng.read_suite(data / "hwtsc22" / "suite.jsonl.gz")),
    }
    wmt = ng.read(data / "wmt16-da-seg" / "segments.jsonl.gz")
    rated = {"MLQE": unsourced, "WMT16": ng.Dataset(wmt.segments[::TESTED], "WMT16")}
    wanted = {
        "train": [row[:2] for row in rows],
        "development": [p for pairs, _ in dev.values() for p in pairs]
        + [p for one in asked_of(suites["MLQE"], unsourced.segments) for p in both(*one)],
        "tests": [
            p for one in asked_of([*suites["XPAWS-fr"], *suites["HW-TSC"]], rated["WMT16"].segments) for p in both(*one)
        ],
    }
    for name, pairs in wanted.items():
        if given.only in (None, name) and not (given.no_tests and name == "tests"):
            vectors.add(name, pairs)
    if given.only:
        return
    old = vectors.classifier()
    with gzip.open(given.pairs, "rt", encoding="utf-8") as file:
        kinds = [json.loads(line)["rule"] for line in file][::EVERY]
    left = [i for i, kind in enumerate(kinds) if not given.leave_out or not kind.startswith(tuple(given.leave_out))]
    taught = [wanted["train"][i] for i in left]
    new = fitted(vectors.of(taught), torch.tensor([rows[i].label for i in left]), old)
    print(f"{len(left)} pairs\n")
    if given.no_tests:
        suites, rated = {"MLQE": suites["MLQE"]}, {"MLQE": unsourced}
    table(vectors, old, new, dev, suites, rated)


def measured(
    told: Told,
    dev: Mapping[str, tuple[Pairs, Array]],
    suites: Mapping[str, Sequence[ng.Pair]],
    rated: Mapping[str, ng.Dataset],
) -> dict[str, float]:
    """The columns of the table."""
    found = {name: float((told(pairs).argmax(axis=1) == labels).mean()) for name, (pairs, labels) in dev.items()}
    for name, attacked in suites.items():
        found |= attacks(name, attacked, told)
    for name, dataset in rated.items():
        found |= agreement(name, dataset, told)
    return found


def table(
    vectors: Vectors,
    old: tuple[torch.Tensor, ...],
    new: tuple[torch.Tensor, ...],
    dev: Mapping[str, tuple[Pairs, Array]],
    suites: Mapping[str, Sequence[ng.Pair]],
    rated: Mapping[str, ng.Dataset],
) -> None:
    for share in SHARES:
        weight, bias = ((1 - share) * a + share * b for a, b in zip(old, new, strict=True))

        def told(pairs: Pairs, weight: torch.Tensor = weight, bias: torch.Tensor = bias) -> Array:
            return np.asarray(functional.linear(vectors.of(pairs), weight, bias).softmax(dim=1).double().numpy())

        found = measured(told, dev, suites, rated)
        if share == SHARES[0]:
            print(f"| share | {' | '.join(found)} |\n|---|{'---:|' * len(found)}")
        print(f"| {share:g} | {' | '.join(f'{value:.3f}' for value in found.values())} |", flush=True)


if __name__ == "__main__":
    main()
