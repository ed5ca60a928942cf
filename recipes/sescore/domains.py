"""Does a head that learnt from texts of a domain agree better with people there than one of other texts?

    python recipes/sescore/domains.py texts DATA OUT    # NAME.texts.jsonl, for `nlgauge synth`
    python recipes/sescore/domains.py heads DATA OUT > tables.md
    python recipes/sescore/domains.py mixtures DATA OUT > tables.md    # with both variants, as the head of the package

`texts` takes from each item of SFHOT and BAGEL up to three references, from 200 images of COCO two captions each. The
triples of mlqe, sfhot, bagel and coco stand in OUT/NAME.seed*.jsonl, as `domains.sh` makes them; each variant of each
file is a draw.

`heads` fits the head sescore to triples of one set or several, and asks for agreement with people on the sets that it
did not learn from: data-to-text (BAGEL, SFHOT, WebNLG), all outputs together and between outputs for one input, and
translations (WMT16, newstest2021, TED talks). SFHOT is also cut into halves of its items, to learn from one and test on
the other. In brackets: in how many criteria (of SFHOT: of both halves) a head is above and below that of mlqe, and, of
text from data, above and below `bertscore`, by the mean of its scores over draws (p < 0.05, two-sided, after Holm over
the rows; the tests of `--test auto`). Captions have no ratings: there the question is how often a person's caption is
preferred to one with an error, and to a model's.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fits import Fits, Mask, Reader, Test, Triple, columns, draws, every, mean_and_sd
from study import experts

import nlgauge as ng
from nlgauge.core.arrays import Array

MOST = 3  # references of an item; the pairs grow with their square, and one item of SFHOT has 154
SETS = ("BAGEL", "SFHOT", "WebNLG", "WMT16", "newstest2021", "TED")
IMAGES, CAPTIONS = 200, 2
DRAWS = 300  # of a permutation test: with ten rows after Holm the lowest p counts below 0.005
FEW = 200  # sentences of MLQE-PE, as few as BAGEL has inputs
SHOWN = 200  # images on which captions are compared
FOILS = ("change_attributes", "change_gender", "swap_objects", "drop_objects", "negation", "jumble_words")
TEXTS = {"sfhot": "sfhot", "bagel": "bagel", "coco": "coco-val-refs"}  # name -> folder


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a data set."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def texts(data: Path, out: Path) -> None:
    """References to be damaged: the first of each item; of images every third, and their last captions."""
    for name, folder in TEXTS.items():
        items: dict[str, dict[str, Any]] = {}
        for row in rows(data / folder / "segments.jsonl.gz"):
            items.setdefault(row["seg"], row)
        kept = []
        for place, (item, row) in enumerate(items.items()):
            refs = list(dict.fromkeys(row["refs"]))
            if name == "coco":
                if place % 3 or len(kept) == IMAGES:
                    continue
                refs = refs[-CAPTIONS:]
            else:
                refs = refs[:MOST]
            kept.append({"id": f"{name}.{place:04}", "seg": item, "hyp": row["hyp"], "refs": refs})
        with (out / f"{name}.texts.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)


def training(triples: Sequence[Triple], halves: Sequence[ng.Dataset]) -> dict[str, Mask]:
    """Head -> the triples that it learns from, shape (n,).

    Heads with `half I` learn from SFHOT without any text of people that the I-th half has.
    """
    of = {name: np.array([one.set == name for one in triples]) for name in ("mlqe", *TEXTS)}
    few = {f"mlqe.multiref.{number:04}" for number in range(FEW)}
    found = {
        "mlqe": of["mlqe"],
        f"mlqe, {FEW} sentences": np.array([one.id[: len("mlqe.multiref.0000")] in few for one in triples]),
        **{name: of[name] for name in TEXTS if of[name].any()},
        **{f"mlqe, {name}": of["mlqe"] | of[name] for name in TEXTS if of[name].any()},
        "mlqe, sfhot, bagel": of["mlqe"] | of["sfhot"] | of["bagel"],
    }
    for half, dataset in enumerate(halves):
        tested = {ref for segment in dataset for ref in segment.references}
        other = of["sfhot"] & np.array([one.ref not in tested and one.original not in tested for one in triples])
        found |= {f"half {half}": other, f"mlqe, half {half}": of["mlqe"] | other}
    return found


def tests(data: Path, reader: Reader, step: int) -> dict[str, list[Test]]:
    """Column -> the tests whose mean it shows."""
    sfhot = ng.read(data / "sfhot" / "segments.jsonl.gz")
    text = {
        "BAGEL": [ng.read(data / "bagel" / "segments.jsonl.gz")],
        "SFHOT": [every(sfhot, 2, half) for half in (0, 1)],
        "WebNLG": [ng.read(data / "webnlg2020-humaneval" / "segments.jsonl.gz")],
    }
    found: dict[str, list[Test]] = {}
    for name, parts in text.items():
        for level in ("segment", "item"):
            how = {"level": level, "stats": "kendall_b"}
            found[f"{name}, {'all' if level == 'segment' else 'by item'}"] = [
                Test(f"{name} {i}", part, reader.segments(part.segments), criteria(part), how)
                for i, part in enumerate(parts)
            ]
    wmt16 = ng.read(data / "wmt16-da-seg" / "segments.jsonl.gz")
    found["WMT16, Pearson"] = [Test("WMT16", wmt16, reader.segments(wmt16.segments), ["da_z"], {"stats": "pearson"})]
    for name, folder in (("newstest2021", "WMT21"), ("TED", "TED")):
        part = every(experts(data, folder), step)
        how = {"level": "item", "stats": "kendall_b"}
        found[f"{name}, by item"] = [Test(name, part, reader.segments(part.segments), ["mqm"], how)]
    return found


def criteria(dataset: ng.Dataset) -> list[str]:
    return sorted({key for segment in dataset for key in segment.human})


def seen(head: str, test: Test) -> bool:
    """Whether a head learnt from texts of the set; heads of a half are for the other half, and for nothing else."""
    name, _, part = test.name.partition(" ")
    if "half" in head:
        return name != "SFHOT" or not head.endswith(f"half {part}")
    return name.lower() in head


def heads(data: Path, out: Path, sets: Sequence[str], step: int, keep: Path) -> None:
    """The tables."""
    reader = Reader(ng.Runtime(dtype="float32", device="cpu"), keep)
    asked = tests(data, reader, step)
    halves = [test.dataset for test in asked["SFHOT, all"]]
    weights: dict[str, list[Array]] = {}
    files = {name: sorted(out.glob(f"{name}.seed*.jsonl")) for name in ("mlqe", *TEXTS)}
    drawn = {name: draws(paths, name) for name, paths in files.items() if paths}
    read = {name: reader.drawn(own) for name, own in drawn.items()}
    for draw in range(len(read["mlqe"])):
        features = np.concatenate([own[draw] for own in read.values()])
        triples = [one for own in drawn.values() for one in own[draw]]
        scores = np.array([one.score for one in triples])
        for head, mask in training(triples, halves).items():
            print(f"draw {draw}, {head}: {mask.sum()} examples", file=sys.stderr, flush=True)
            fits = Fits.of(features[mask], scores[mask])
            weights.setdefault(head, []).append(fits.weights(columns(features.shape[1])))
    table({name: own for name, own in asked.items() if name.partition(",")[0] in sets}, weights, reader)
    if "coco" in drawn:
        captions(data, weights, reader)


def mixtures(data: Path, out: Path, step: int, keep: Path) -> None:
    """Two variants of MLQE-PE, which are what the head of the package learnt from, with two of other sets."""
    reader = Reader(ng.Runtime(dtype="float32", device="cpu"), keep)
    made: dict[str, tuple[Array, Array]] = {}
    for name in ("mlqe", "sfhot", "bagel"):
        drawn = draws(sorted(out.glob(f"{name}.seed*.jsonl")), name)
        read = reader.drawn(drawn)
        damaged = [np.array([not one.id.endswith("/untouched") for one in draw]) for draw in drawn[:2]]
        scores = [np.array([one.score for one in draw]) for draw in drawn[:2]]
        made[name] = (
            np.concatenate([read[0], read[1][damaged[1]]]),  # the untouched once
            np.concatenate([scores[0], scores[1][damaged[1]]]),
        )
    heads_ = {}
    for learnt in (("mlqe",), ("mlqe", "sfhot"), ("mlqe", "bagel"), ("mlqe", "sfhot", "bagel")):
        features, scores_ = (np.concatenate([made[name][i] for name in learnt]) for i in (0, 1))
        heads_[", ".join(learnt)] = Fits.of(features, scores_).weights(columns(features.shape[1]))
    asked = tests(data, reader, step)
    cells: dict[str, list[str]] = {name: [] for name in heads_}
    for parts in asked.values():
        values: dict[str, list[float]] = {name: [] for name in heads_}
        signs = {name: [0, 0] for name in heads_}
        for test in parts:
            scored = {name: test.features @ own for name, own in heads_.items() if not seen(name, test)}
            found, told = test.measure(scored, "mlqe", DRAWS)
            for name in scored:
                values[name].append(found[name])
                signs[name] = [a + b for a, b in zip(signs[name], told[name], strict=True)]
        for name, own in values.items():
            told_ = "" if name == "mlqe" else " ({}, {})".format(*signs[name])
            cells[name].append(f"{np.mean(own):.3f}{told_}" if own else "")
    print(f"| learnt from | {' | '.join(asked)} |\n|---|{'---:|' * len(asked)}")
    for name, row in cells.items():
        print(f"| {name} | {' | '.join(row)} |", flush=True)


def table(asked: Mapping[str, Sequence[Test]], weights: Mapping[str, Sequence[Array]], reader: Reader) -> None:
    """A row for each set that was learnt from, a column for each set and protocol."""
    shown = [name for name in weights if "half" not in name] + ["the other half", "mlqe, the other half", "bertscore"]
    cells: dict[str, list[str]] = {name: [] for name in shown}
    for column, parts in asked.items():
        values: dict[str, list[list[float]]] = {name: [] for name in shown}  # of parts, of seeds
        against = ("mlqe", "bertscore") if len(parts[0].criteria) > 1 else ("mlqe",)  # translations: the former alone
        signs = {(name, baseline): [0, 0] for name in shown for baseline in against}  # above, below
        n = 0
        for test in parts:
            fit = {name: own for name, own in weights.items() if not seen(name, test)}
            called = {name: re.sub(r"half \d", "the other half", name) for name in fit}
            scored = {f"{called[name]}/{i}": test.features @ w for name, own in fit.items() for i, w in enumerate(own)}
            scored["bertscore/0"] = reader.bertscore(test.dataset.segments)
            found, _ = test.measure(scored)
            for name in {key.rpartition("/")[0] for key in found}:
                values[name].append([v for key, v in found.items() if key.rpartition("/")[0] == name])
            means = {called[name]: np.mean([test.features @ w for w in own], axis=0) for name, own in fit.items()}
            means["bertscore"] = scored["bertscore/0"]
            n += len(test.criteria)
            for baseline in against:
                for name, (above, below) in test.measure(means, baseline, DRAWS)[1].items():
                    signs[name, baseline][0] += above
                    signs[name, baseline][1] += below
        for name in shown:
            own = [float(np.mean(of_seed)) for of_seed in zip(*values[name], strict=True)]
            told = "; ".join("{}, {}".format(*signs[name, baseline]) for baseline in against)
            number = "" if not own else f"{own[0]:.3f}" if len(own) == 1 else mean_and_sd(own)
            cells[name].append(f"{number} ({told})" if own else "")
        print(f"{column}, {n} criteria:", {name: own[-1] for name, own in cells.items()}, file=sys.stderr, flush=True)
    print(f"| learnt from | {' | '.join(asked)} |\n|---|{'---:|' * len(asked)}")
    for name in (name for name in shown if any(cells[name])):
        print(f"| {name} | {' | '.join(cells[name])} |", flush=True)


def captions(data: Path, weights: Mapping[str, Sequence[Array]], reader: Reader) -> None:
    """How often the first caption of a person is preferred to one with an error, and to a model's."""
    dataset = ng.read(data / "coco-val-refs" / "segments.jsonl.gz")
    images = [segment for place, segment in enumerate(dataset) if place % 3 == 1][:SHOWN]
    first = [segment.references[0] for segment in images]
    others: dict[str, Sequence[str | None]] = {"a model's": [segment.hypothesis for segment in images]}
    for name in FOILS:
        others[name] = [None if one is None else one.text for one in ng.perturb(name, first, seed=0)]

    def against(texts: Sequence[str | None]) -> list[ng.Segment]:
        return [ng.Segment(str(i), text, images[i].references[1:]) for i, text in enumerate(texts) if text is not None]

    names = [name for name in weights if "half" not in name]
    people = against(first)
    good, good_f = reader.segments(people), reader.bertscore(people)
    shares: dict[str, list[list[float]]] = {name: [] for name in [*names, "bertscore"]}
    for texts in others.values():
        kept = [i for i, text in enumerate(texts) if text is not None]
        worse = against(texts)
        bad, bad_f = reader.segments(worse), reader.bertscore(worse)
        for name in names:
            gains = [(good[kept] - bad) @ w for w in weights[name]]
            shares[name].append([float(np.mean((gain > 0) + (gain == 0) / 2)) for gain in gains])
        gain = good_f[kept] - bad_f
        shares["bertscore"].append([float(np.mean((gain > 0) + (gain == 0) / 2))])
    heads_ = [f"{name} ({sum(t is not None for t in texts)})" for name, texts in others.items()]
    print(f"\n| learnt from | {' | '.join(heads_)} |\n|---|{'---:|' * len(heads_)}")
    for name, own in shares.items():
        print(f"| {name} | {' | '.join(f'{v[0]:.3f}' if len(v) == 1 else mean_and_sd(v) for v in own)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("texts", "heads", "mixtures"))
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", default=",".join(SETS), help="some of the sets that test, with commas")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth input of newstest2021 and TED")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keeps features for the next run; default: OUT")
    given = parser.parse_args()
    if given.what == "texts":
        texts(given.data, given.out)
    elif given.what == "mixtures":
        mixtures(given.data, given.out, given.every, given.keep or given.out)
    else:
        heads(given.data, given.out, given.sets.split(","), given.every, given.keep or given.out)


if __name__ == "__main__":
    main()
