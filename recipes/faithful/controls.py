"""Does a metric of facts hold against copies of the source with a flaw? Beside its agreement with people:

    python recipes/faithful/controls.py DATA [--specs SPEC ...] [--sets SET ...] [--n N] [--half 0|1]

A right text is one that people found supported: a summary of QAGS-CNN or SummEval, a reference of BUMP, a consistent
summary of SummEdits, a claim of written.txt that follows. Beside it stand sentences of its source: as they are
(`copy`), with their words shuffled, with another number, another name (half of both from elsewhere in the source), a
negation put in or taken away, two names exchanged. `reworded` is the right text itself in other words, by our
perturbations. A figure is the share of right texts that score higher than the control; half of the ties. `people` is
the agreement with people: Pearson on QAGS-CNN, Kendall's tau-b with consistency on SummEval (mean of articles whose
texts differ), the area under the ROC curve on SummEdits (mean of domains), and shares of pairs on BUMP and written.txt.
N right texts are drawn from each set, and people's texts are drawn as well, so that a run takes minutes. With `--line`
a second row has the balanced accuracy of "supported from the line on": of all texts, and of those with shorter and
with longer sources than the median.
"""

from __future__ import annotations

import argparse
import random
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from study import BEST, accuracy, read, rows, scored

import nlgauge as ng
from nlgauge import perturb
from nlgauge.text.languages import language
from nlgauge.text.names import entities
from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.tokenize import split_sentences

SPECS = ("share", "rouge2", "length", "faithful")
SETS = ("qags", "summeval", "bump1", "summedits", "written")
LEAST = 8  # words of a sentence that is copied
SAME = ("synonyms", "synonyms_objects", "numbers_to_words", "contractions", "expansions")
ARTICLES, TEXTS, PAIRS = 16, 60, 120  # of SummEval, of a domain of SummEdits, and of BUMP

Pair = tuple[str, str]  # a text and its source


def people(data: Path, name: str, half: int | None) -> tuple[list[str], list[Pair], np.ndarray]:
    """Groups of texts, the texts with their sources, and what people say; of pairs the right one comes first."""
    rng = random.Random(name)
    if name == "summedits":
        found = rows(data / "summedits" / "segments.jsonl.gz")
        places = {key: i for i, key in enumerate(dict.fromkeys(row["seg"] for row in found))}
        by = defaultdict(list)
        for row in found:
            if half is None or places[row["seg"]] % 2 == half:
                by[row["task"]].append(row)
        found = [row for own in by.values() for row in rng.sample(own, min(TEXTS, len(own)))]
        human = np.array([row["human"]["consistent"] for row in found])
        return [row["task"] for row in found], [(row["hyp"], row["src"]) for row in found], human
    groups, pairs, human = read(data, name, half)
    if name == "summeval":
        some = set(rng.sample(list(dict.fromkeys(groups)), ARTICLES))
        at = [i for i, group in enumerate(groups) if group in some]
    elif name in ("bump1", "written"):
        human = [1.0, 0.0] * (len(pairs) // 2)
        some = sorted(rng.sample(range(len(pairs) // 2), min(PAIRS, len(pairs) // 2)))
        at = [2 * i + side for i in some for side in (0, 1)]
    else:
        at = list(range(len(pairs)))
    return [groups[i] for i in at], [pairs[i] for i in at], np.array([human[i] for i in at], dtype=float)


def agreement(name: str, groups: Sequence[str], human: np.ndarray, scores: np.ndarray) -> float:
    if name == "qags":
        return float(np.corrcoef(scores, human)[0, 1])
    if name in ("bump1", "written"):
        return wins(scores[0::2], scores[1::2])
    by = [np.flatnonzero(np.array(groups) == group) for group in dict.fromkeys(groups)]
    if name == "summedits":
        return float(np.mean([area(scores[at], human[at]) for at in by]))
    by = [at for at in by if len(set(human[at])) > 1]  # of others no order is right
    found = [ng.correlation("kendall_b", scores[at], human[at]).value for at in by]
    return float(np.mean(np.nan_to_num(found)))


def area(scores: np.ndarray, human: np.ndarray) -> float:
    above, below = scores[human == 1], scores[human == 0]
    return float(((above[:, None] > below) + 0.5 * (above[:, None] == below)).mean())


def wins(above: np.ndarray, below: np.ndarray) -> float:
    gap = above - below
    return float(np.mean((gap > 1e-6) + 0.5 * (abs(gap) <= 1e-6)))


def beaten(by: dict[Pair, float], made: Sequence[tuple[Pair, Pair]]) -> float:
    """The share of right texts that win over their control; NaN where there is none."""
    return wins(np.array([by[a] for a, _ in made]), np.array([by[b] for _, b in made])) if made else float("nan")


def at_line(line: float, pairs: Sequence[Pair], sound: np.ndarray, scores: np.ndarray) -> str:
    """Balanced accuracy of a line on all texts, and on those with short and with long sources."""
    words = np.array([len(source.split()) for _, source in pairs])
    parts = {"all": words >= 0, "short": words <= np.median(words), "long": words > np.median(words)}
    found = {name: accuracy(((scores >= line) == sound)[at], sound[at]) for name, at in parts.items()}
    shares = " ".join(f"{name} {value:.3f}" for name, value in found.items())
    return (
        f"from {line} on: {shares}, {np.mean(scores >= line):.2f} of the texts; median of words {np.median(words):.0f}"
    )


def right_texts(name: str, pairs: Sequence[Pair], human: np.ndarray, n: int) -> list[Pair]:
    best = BEST.get(name, 1.0)
    found = sorted({pair for pair, said in zip(pairs, human, strict=True) if said == best})
    return random.Random(name).sample(found, min(n, len(found)))


def replaced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def names_of(text: str) -> list[tuple[int, int]]:
    return [(n.start, n.end) for n in entities(language().analyse(text).tokens) if n.start and text[n.start].isupper()]


def shuffled(sentence: str, source: str, rng: random.Random) -> str | None:
    words = sentence.rstrip(".!?").split()
    rng.shuffle(words)
    return " ".join(words) + "."


def number(sentence: str, source: str, rng: random.Random) -> str | None:
    found = [n for n in find_numbers(sentence) if n.value is not None]
    if not found:
        return None
    n = rng.choice(found)
    others = [source[m.start : m.end] for m in find_numbers(source) if m.value not in (None, n.value)]
    if others and rng.random() < 0.5:
        return replaced(sentence, n.start, n.end, rng.choice(others))
    made = perturb("change_numbers", [sentence])[0]
    return None if made is None else made.text


def name(sentence: str, source: str, rng: random.Random) -> str | None:
    found = names_of(sentence)
    if not found:
        return None
    start, end = rng.choice(found)
    own = set(re.findall(r"\w+", sentence[start:end].lower()))
    others = [source[a:b] for a, b in names_of(source) if not own & set(re.findall(r"\w+", source[a:b].lower()))]
    if others and rng.random() < 0.5:
        return replaced(sentence, start, end, rng.choice(others))
    return replaced(sentence, start, end, rng.choice(("Ellen Marsh", "Toby Green", "Bolivia", "Hartford", "Nexon")))


def negated(sentence: str, source: str, rng: random.Random) -> str | None:
    made = perturb("negation", [sentence])[0]
    return None if made is None else made.text


def roles(sentence: str, source: str, rng: random.Random) -> str | None:
    found = names_of(sentence)
    if len(found) < 2:
        return None
    (a, b), (c, d) = sorted(rng.sample(found, 2))
    if set(sentence[a:b].split()) & set(sentence[c:d].split()):
        return None
    return sentence[:a] + sentence[c:d] + sentence[b:c] + sentence[a:b] + sentence[d:]


def reworded(text: str) -> str | None:
    for template in SAME:
        made = perturb(template, [text])[0]
        text = text if made is None else made.text
    return text


def copied(sentence: str, source: str, rng: random.Random) -> str | None:
    return sentence


FLAWS: dict[str, Callable[[str, str, random.Random], str | None]] = {
    "copy": copied, "shuffled": shuffled, "number": number, "name": name, "negated": negated, "roles": roles,
}  # fmt: skip


def controls(rights: Sequence[Pair]) -> dict[str, list[tuple[Pair, Pair]]]:
    """Each right text beside a control of each kind that its source allows."""
    found: dict[str, list[tuple[Pair, Pair]]] = {kind: [] for kind in (*FLAWS, "reworded")}
    for text, source in rights:
        rng = random.Random(text)
        sentences = [s for s in split_sentences(source) if len(s.split()) >= LEAST]
        rng.shuffle(sentences)
        for kind, flaw in FLAWS.items():
            made = next(filter(None, (flaw(s, source, rng) for s in sentences)), None)
            if made is not None:
                found[kind].append(((text, source), (made, source)))
        other = reworded(text)
        if other is not None and other != text:
            found["reworded"].append(((text, source), (other, source)))
    return found


def score(spec: str, pairs: Sequence[Pair], runtime: ng.Runtime) -> np.ndarray:
    """Scores by a metric, by the share of words that the source has, or by length, shorter first."""
    if spec == "length":
        return np.array([-float(len(text.split())) for text, _ in pairs])
    if spec == "share":
        split = [[re.findall(r"\w+", text.lower()) for text in pair] for pair in pairs]
        return np.array([np.mean([word in set(source) for word in text]) if text else 0.0 for text, source in split])
    return scored(spec, pairs, runtime)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--specs", nargs="*", default=SPECS)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--n", type=int, default=40)
    parser.add_argument("--half", type=int)
    parser.add_argument("--line", type=float)
    parser.add_argument("--dtype", default="bfloat16")
    given = parser.parse_args()
    warnings.simplefilter("ignore", ng.ScoreWarning)
    runtime = ng.Runtime(dtype=given.dtype)
    kinds = (*FLAWS, "reworded")
    print(f"{'':10s} {'':32s} people", *(f"{kind:>8s}" for kind in kinds))
    for name in given.sets:
        groups, pairs, human = people(given.data, name, given.half)
        made = controls(right_texts(name, pairs, human, given.n))
        print(f"{name:10s} {'texts, pairs':32s} {len(pairs):6d}", *(f"{len(made[kind]):8d}" for kind in kinds))
        texts = list(dict.fromkeys([*pairs, *(one for own in made.values() for both in own for one in both)]))
        for spec in given.specs:
            by = dict(zip(texts, score(spec, texts, runtime), strict=True))
            shares = [beaten(by, made[kind]) for kind in kinds]
            scores = np.array([by[pair] for pair in pairs])
            agreed = agreement(name, groups, human, scores)
            print(f"{'':10s} {spec:32s} {agreed:6.3f}", *(f"{share:8.2f}" for share in shares), flush=True)
            if given.line is not None and spec.startswith("faithful"):
                print(f"{'':10s}   {at_line(given.line, pairs, human == BEST.get(name, 1.0), scores)}", flush=True)


if __name__ == "__main__":
    main()
