"""Texts with errors at known places, each beside a text that says the same without them:

    python examples.py OUT --data FOLDER [--seed 0] [--share 1]

FOLDER holds the sets named below (`shared/data`). A line of OUT is a JSON object with `hyp`, `ref`, `spans` (start,
end, severity, missing) and `origin`. About half of the lines have no span. OUT.dev has the same of other items.
OUT.second is for a second pass: outputs for two talks of TED with the errors that experts marked, free paraphrases,
texts of which only is known whether they have an error, and some of the lines of OUT. There `spans` is null where no
place is known, `faulty` says whether the text has an error, and `gaps` is false where nobody knows what is missing.
OUT.third is a smaller mixture of these for a last pass, with rated outputs of WMT16.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nlgauge import Runtime, perturb
from nlgauge.core.result import replacing
from nlgauge.perturbations.synthesis import Draws, Synthesizer
from nlgauge.text.scripts import data_lines
from nlgauge.text.tokenize import word_spans

Row = dict[str, Any]
Pair = tuple[str, str]
MINOR, MAJOR = 1, 2
NAMES = {MINOR: "minor", MAJOR: "major"}
TRAIN_ITEMS, DEV_ITEMS = range(700), range(700, 800)  # of the file with two references; the rest is kept back
TALKS = ("talk.7", "talk.9")  # the others fix the thresholds and are the test
KEPT = 7000  # examples of the first pass in the second, so that what was learnt from them is not lost
GOOD, BAD = 85, 50  # direct assessment from which on an output counts as right, and up to which as faulty
ENTAILED = {"snli": 2500, "base_wiki": 900, "sim_wiki": 1400, "translate_wiki": 2100, "conjnli": 600}
CONTRADICTED = {"snli": 900, "base_wiki": 500, "sim_wiki": 600, "translate_wiki": 900}
LAST = {  # origin -> examples of the last pass; of others there are none
    "marked by experts": 10_000,
    "output, rated": 10_000,
    "two translations": 2000,
    "entailed": 1500,
    "paraphrase of PAWS": 900,
    "contradicted": 700,
    "machine translation, edited": 700,
    "two translations, rules": 700,
    "two translations, synthesis": 700,
    "attack on a paraphrase of PAWS": 400,
    "copies, rules": 300,
    "post-edit, rules": 200,
    "copies": 100,
}
SAME_LENGTH = 0.75  # share of the premise's words; an entailed text that is shorter leaves something out
LONGEST = 220  # characters of a text
# Rule -> share of the rule-made errors, severity.
RULES = {
    "mask_and_predict": (8, MAJOR),
    "mismatch_noun": (4, MAJOR),
    "mismatch_verb": (4, MAJOR),
    "mismatch_adj": (2, MAJOR),
    "hyponyms:relation=sibling": (4, MAJOR),
    "antonyms:pos=any": (3, MAJOR),
    "negation": (3, MAJOR),
    "number_error": (4, MAJOR),
    "change_numbers": (2, MAJOR),
    "name_error": (3, MAJOR),
    "pronoun_error": (4, MAJOR),
    "perturb_entities": (3, MAJOR),
    "addition": (2, MAJOR),
    "omission": (5, MAJOR),
    "drop_phrases": (5, MAJOR),
    "drop_adjectives": (1, MAJOR),
    "subject_verb_disagreement": (5, MINOR),
    "typos": (4, MINOR),
    "repeat_phrases": (2, MINOR),
}
SAME = ("synonyms", "synonyms_objects", "contractions", "expansions", "numbers_to_words")
FUNCTION = frozenset(" ".join(data_lines("stopwords.txt")).split()) - set("not no nor never".split())
SMALL = {  # words of a class that are taken for each other
    word: group
    for group in (
        tuple("in on at to of for from by with about into over under after before".split()),
        tuple("a the an this that these".split()),
        tuple("is was were are be been being".split()),
        tuple("has have had having".split()),
        tuple("and but or so because while".split()),
    )
    for word in group
}


class Marked:
    """A text whose changed places are known: a severity for each character, and for each place where text is gone."""

    def __init__(self, text: str) -> None:
        self.text, self.marks, self.gaps = text, [0] * len(text), {}

    def edit(self, start: int, end: int, new: str, severity: int) -> None:
        old = self.text[start:end]
        while old and new and old[0] == new[0] and (old[0] == " " or _at_word(old, new)):
            size = 1 if old[0] == " " else _first(old)
            old, new, start = old[size:], new[size:], start + size
        while old and new and _last(old) == _last(new) and old[len(old) - len(_last(old)) :]:
            size = len(_last(old))
            old, new, end = old[: len(old) - size], new[: len(new) - size], end - size
        if not old and not new:
            return
        self.text = self.text[:start] + new + self.text[end:]
        self.marks[start:end] = [severity if not c.isspace() else 0 for c in new]
        moved = {}
        for place, worst in self.gaps.items():
            at = place if place <= start else max(start + len(new), place + len(new) - (end - start))
            moved[at] = max(moved.get(at, 0), worst)
        if not new.strip() and old.strip():
            moved[start] = max(moved.get(start, 0), severity)
        self.gaps = moved

    def spans(self) -> list[Row]:
        words = word_spans(self.text)
        found: list[Row] = []
        last = None
        for number, (start, end) in enumerate(words):
            worst = max(self.marks[start:end])
            if worst and last == number - 1 and found and found[-1]["severity"] == NAMES[worst]:
                found[-1]["end"] = end
            elif worst:
                found.append({"start": start, "end": end, "severity": NAMES[worst], "missing": False})
            last = number if worst else last
        for place, worst in self.gaps.items():
            at = next((start for start, end in words if end > place), len(self.text))
            found.append({"start": at, "end": at, "severity": NAMES[worst], "missing": True})
        return found


def _first(text: str) -> int:
    return len(text.split(" ")[0])


def _at_word(old: str, new: str) -> bool:
    return old.split(" ")[0] == new.split(" ")[0]


def _last(text: str) -> str:
    return text[len(text.rstrip(" ")) :] or text.rsplit(" ", 1)[-1]


def severity_of(text: str) -> int:
    """Function words and marks are minor, the rest is major."""
    words = [text[start:end].lower() for start, end in word_spans(text)]
    return MAJOR if any(w not in FUNCTION and any(c.isalnum() for c in w) for w in words) else MINOR


def rows_of(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def row(marked: Marked, other: str, origin: str) -> Row:
    return {"hyp": marked.text, "ref": other, "spans": marked.spans(), "origin": origin}


def by_rules(pairs: Sequence[Pair], seed: int, origin: str) -> Iterator[Row]:
    """One to three errors made by rules in the first text of each pair, beside the second."""
    rng = random.Random(f"rules/{seed}/{origin}")
    names, shares = list(RULES), [share for share, _ in RULES.values()]
    made = [Marked(text) for text, _ in pairs]
    for turn in range(3):
        going = [i for i in range(len(pairs)) if turn == 0 or rng.random() < 0.4**turn]
        drawn = {i: rng.choices([*names, "small", "swap", "put"], [*shares, 8, 3, 3])[0] for i in going}
        for name in names:
            own = [i for i in going if drawn[i] == name]
            texts = [made[i].text for i in own]
            for i, changed in zip(
                own, perturb(name, texts, seed=seed + turn, pool=[o for _, o in pairs[:200]]), strict=True
            ):
                drawn[i] = name if changed else "small"
                for start, end, new in reversed(changed.edits if changed else []):
                    worst = RULES[name][1]
                    if worst == MAJOR and name != "pronoun_error":
                        worst = severity_of(made[i].text[start:end] + " " + new)
                    made[i].edit(start, end, new, worst)
        for i in going:
            if drawn[i] in ("small", "swap", "put"):
                own_edit(made[i], drawn[i], pairs, rng)
    for marked, (_, other) in zip(made, pairs, strict=True):
        if marked.text.strip():
            yield row(marked, other, origin)


def own_edit(marked: Marked, kind: str, pairs: Sequence[Pair], rng: random.Random) -> None:
    """A function word for another, two neighbours the wrong way round, or words of another text put in or in place."""
    words = word_spans(marked.text)
    places = [i for i, (start, end) in enumerate(words) if marked.text[start:end] in SMALL]
    if kind == "small" and places:
        start, end = words[rng.choice(places)]
        word = marked.text[start:end]
        new = rng.choice([other for other in SMALL[word] if other != word] + [""] * 3)
        marked.edit(start, end if new else min(len(marked.text), end + 1), new, MINOR)
        return
    if len(words) < 4:
        return
    at = rng.randrange(len(words) - 2)
    (start, middle), (then, end) = words[at], words[at + 1]
    if kind == "swap" and marked.text[middle:then] == " ":
        new = f"{marked.text[then:end]} {marked.text[start:middle]}"
        marked.text = marked.text[:start] + new + marked.text[end:]
        marked.marks[start:end] = [MINOR] * len(new)
        return
    other = rng.choice(pairs)[0]
    from_ = word_spans(other)
    first = rng.randrange(max(1, len(from_) - 3))
    last = min(len(from_) - 1, first + rng.randrange(3))
    new = other[from_[first][0] : from_[last][1]]
    stop = words[min(len(words) - 1, at + rng.randrange(3))][1] if rng.random() < 0.6 else start
    marked.edit(start, stop, new + ("" if stop > start else " "), severity_of(new))


def by_synthesis(pairs: Sequence[Pair], seed: int, origin: str) -> Iterator[Row]:
    """One to four errors of the synthesis in the first text of each pair, with the severities of its judge."""
    maker = Synthesizer(Draws(edits=1.7, max_edits=4, span=1.8), seed=seed, runtime=Runtime(device="cpu"))
    for (text, other), one in zip(pairs, maker([text for text, _ in pairs]), strict=True):
        if one is None:
            continue
        marked = Marked(text)
        for step in one.steps:
            marked.edit(*step.edit, MAJOR if step.severity <= -5 else MINOR)
        if marked.text == one.text and marked.text.strip():
            yield row(marked, other, origin)


def clean(pairs: Sequence[Pair], origin: str) -> Iterator[Row]:
    for text, other in pairs:
        yield row(Marked(text), other, origin)


def tagged(row_: Row, other: str, origin: str) -> Row | None:
    """A machine translation whose words a post-editor changed, beside another translation."""
    text, tokens, tags = row_["hyp"], row_["hyp_tok"].split(), row_["tags"].split()
    marked, at = Marked(text), 0
    for number, token in enumerate(tokens):
        start = text.find(token, at)
        if start < 0 or text[at:start].strip():
            return None
        bad, gap = tags[2 * number + 1] == "B", tags[2 * number] == "B"
        if bad:
            marked.marks[start : start + len(token)] = [severity_of(token)] * len(token)
        elif gap and not (number and tags[2 * number - 1] == "B"):
            marked.gaps[start] = MAJOR
        at = start + len(token)
    # A run of words is one error, as bad as its worst word.
    words = word_spans(text)
    runs: list[list[tuple[int, int]]] = []
    last = -2
    for number, (start, end) in enumerate(words):
        if max(marked.marks[start:end]):
            if last == number - 1:
                runs[-1].append((start, end))
            else:
                runs.append([(start, end)])
            last = number
    for run in runs:
        worst = max(max(marked.marks[start:end]) for start, end in run)
        for start, end in run:
            marked.marks[start:end] = [worst] * (end - start)
    return row(marked, other, origin)


def fits(*texts: str) -> bool:
    return all(15 <= len(text) <= LONGEST for text in texts)


def examples(data: Path, seed: int, share: float, items: range) -> Iterator[Row]:
    rng = random.Random(f"{seed}/{items}")
    folder = data / "mlqe-pe"
    twice = list(rows_of(folder / "segments_multiref_et-en.jsonl.gz"))
    estonian = {r["id"]: r for r in rows_of(folder / "segments_et-en.jsonl.gz")}
    ordered: list[Pair] = []
    for item in items:
        first = twice[item]
        same = estonian[first["same_as"]]
        texts = list(dict.fromkeys([*first["refs"], same["refs"][0]]))
        ordered += [(a, b) for a in texts for b in texts if a != b and fits(a, b)]
        for other in texts:
            found = tagged(same, other, "machine translation, edited") if fits(same["hyp"], other) else None
            if found and rng.random() < share:
                yield found

    def some(pairs: Sequence[Pair], n: int) -> list[Pair]:
        return rng.sample(pairs, min(len(pairs), int(n * share)))

    yield from clean(some(ordered, 4200), "two translations")
    yield from by_rules(some(ordered, 2500), seed, "two translations, rules")
    yield from by_synthesis(some(ordered, 2500), seed, "two translations, synthesis")
    if items.start:
        return
    good: list[Pair] = []
    bad: list[Row] = []
    for path in sorted(folder.glob("segments_??-en.jsonl.gz")):
        for r in rows_of(path):
            if r["split"] != "train" or not fits(r["hyp"], r["refs"][0]) or not 0 < r["human"]["hter"] <= 0.6:
                continue
            if r["human"]["da"] >= 80:
                good += [(r["hyp"], r["refs"][0]), (r["refs"][0], r["hyp"])]
            elif r["human"]["da"] < 65 and r["human"]["hter"] <= 0.5:
                bad.append(r)
    yield from clean(some(good, 3500), "translation and its post-edit")
    yield from by_rules(some(good, 1200), seed, "post-edit, rules")
    for r in rng.sample(bad, int(1100 * share)):
        found = tagged(r, r["refs"][0], "machine translation and its post-edit")
        if found:
            yield found
    raw: list[str] = []
    for name in ("europarl", "news"):
        with gzip.open(data / "raw" / f"{name}.en.txt.gz", "rt", encoding="utf-8") as file:
            raw += [line.strip() for line in file if fits(line.strip())][:6000]
    texts = rng.sample(raw, int(3600 * share))
    third = len(texts) // 3
    yield from clean([(text, text) for text in texts[: third // 4]], "copies")
    for start, name in enumerate(SAME):
        own = texts[third + start :: len(SAME)]
        changed = [(o.text, o.original) for o in perturb(name, own, seed=seed) if o]
        yield from clean(some([p if rng.random() < 0.5 else p[::-1] for p in changed], 200), "paraphrases by rules")
        yield from by_rules(some(changed, 90), seed, "paraphrases by rules, rules")
    yield from by_rules([(text, text) for text in texts[: third * 4 // 5]], seed, "copies, rules")
    rated = rows_of(data / "wmt15-da-seg" / "segments.jsonl.gz")
    best = [(r["hyp"], r["refs"][0]) for r in rated if r["human"]["da_z"] > 0.75 and fits(r["hyp"], r["refs"][0])]
    yield from clean(some(best, len(best)), "good translation")


def of_people(data: Path) -> Iterator[Row]:
    """Outputs for two of the talks in TED, with the errors that experts marked in the output."""
    for r in rows_of(data / "ted-mqm-zh-en" / "segments.jsonl.gz"):
        if r["doc"] in TALKS and not r["system"].startswith("ref"):
            spans = [
                {"start": e["start"], "end": e["end"], "severity": e["severity"].lower(), "missing": False}
                for e in r["errors"]
                if e.get("side") == "hyp"
            ]
            yield {"hyp": r["hyp"], "ref": r["refs"][0], "spans": spans, "origin": "marked by experts"}


def paraphrases(data: Path, seed: int) -> Iterator[Row]:
    """Pairs of PAWS that say the same, in another order of words, and attacks on one of them beside the other."""
    rng = random.Random(f"paws/{seed}")
    for name in ("fr", "zh"):
        for r in rows_of(data / f"xpaws-{name}-adv" / "adversarial.jsonl.gz"):
            same = [text for text in (r["ref"], r["r"], r["cand_para"]) if text]
            one, other = rng.sample(same, 2)
            if one != other and fits(one, other):
                yield row(Marked(one), other, "paraphrase of PAWS")
            attack = attacked(r, rng)
            if attack and rng.random() < 0.4:
                yield attack


def attacked(r: Row, rng: random.Random) -> Row | None:
    """An attack on a reference beside another text that says the same as the reference; the words that changed."""
    other = rng.choice([r["r"], r["cand_para"]])
    text, words, before = r["cand_adv_ref"], word_spans(r["cand_adv_ref"]), word_spans(r["ref"])
    if not fits(text, other):
        return None
    now, then = ([t[a:b].lower() for a, b in spans] for t, spans in ((text, words), (r["ref"], before)))
    marked = Marked(text)
    for kind, low, high, start, end in difflib.SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        for a, b in words[start:end] if kind != "equal" else []:
            marked.marks[a:b] = [severity_of(text[a:b])] * (b - a)
        if kind == "delete":
            marked.gaps[words[start][0] if start < len(words) else len(text)] = severity_of(" ".join(then[low:high]))
    return row(marked, other, "attack on a paraphrase of PAWS")


def of_whole_texts(data: Path, seed: int) -> Iterator[Row]:
    """Texts of which is known whether they have an error, and not where: rated outputs, and pairs of NLI.

    The words of a hypothesis that is entailed are right; what it leaves out of its premise is not known.
    """
    rng = random.Random(f"whole/{seed}")
    folder = data / "mlqe-pe"
    twice = list(rows_of(folder / "segments_multiref_et-en.jsonl.gz"))
    estonian = {r["id"]: r for r in rows_of(folder / "segments_et-en.jsonl.gz")}
    for item in TRAIN_ITEMS:
        r = estonian[twice[item]["same_as"]]
        for other in twice[item]["refs"]:
            if (r["human"]["da"] >= GOOD or r["human"]["da"] <= BAD) and fits(r["hyp"], other):
                yield unplaced(r["hyp"], other, r["human"]["da"] <= BAD, "output, rated")
    for r in rows_of(data / "wmt15-da-seg" / "segments.jsonl.gz"):
        if (r["human"]["da_z"] < -0.5 or r["human"]["da_z"] > 0.75) and fits(r["hyp"], r["refs"][0]):
            yield unplaced(r["hyp"], r["refs"][0], r["human"]["da_z"] < 0, "output, rated")
    for label, counts in (("entailment", ENTAILED), ("contradiction", CONTRADICTED)):
        for name, count in counts.items():
            rows = [
                r
                for r in rows_of(data / "nli" / f"{name}.train.jsonl.gz")
                if r["label"] == label and fits(r["premise"], r["hypothesis"])
            ]
            for r in rng.sample(rows, min(count, len(rows))):
                if label == "contradiction":
                    yield unplaced(r["hypothesis"], r["premise"], True, "contradicted")
                    continue
                whole = len(r["hypothesis"].split()) >= SAME_LENGTH * len(r["premise"].split())
                yield {
                    **row(Marked(r["hypothesis"]), r["premise"], "entailed"),
                    "gaps": False,
                    "faulty": False if whole else None,
                }


def last(second: Sequence[Row], data: Path, seed: int) -> list[Row]:
    """Examples of the last pass: those marked by experts twice, some of the others, and rated outputs of WMT16."""
    rng = random.Random(f"last/{seed}")
    found: list[Row] = []
    for origin, count in LAST.items():  # the second pass has those marked by experts twice already
        own = [one for one in second if one["origin"] == origin]
        found += rng.sample(own, min(count, len(own)))
    for r in rows_of(data / "wmt16-da-seg" / "segments.jsonl.gz"):
        if (r["human"]["da_z"] < -0.4 or r["human"]["da_z"] > 0.6) and fits(r["hyp"], r["refs"][0]):
            found.append(unplaced(r["hyp"], r["refs"][0], r["human"]["da_z"] < 0, "output, rated"))
    rng.shuffle(found)
    return found


def unplaced(text: str, other: str, faulty: bool, origin: str) -> Row:
    return {
        "hyp": text,
        "ref": other,
        "spans": None if faulty else [],
        "faulty": faulty,
        "gaps": False,
        "origin": origin,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0)
    given = parser.parse_args()
    for path, items in ((given.out, TRAIN_ITEMS), (given.out + ".dev", DEV_ITEMS)):
        made = list(examples(given.data, given.seed, given.share if not items.start else 0.1, items))
        random.Random(given.seed).shuffle(made)
        write(path, made)
        if not items.start:
            rng = random.Random(given.seed)
            free = [one for one in made if one["origin"] == "two translations"]
            rest = [one for one in made if one["origin"] != "two translations"]
            experts = list(of_people(given.data))
            second = [*experts, *experts, *free, *paraphrases(given.data, given.seed)]
            second += [*of_whole_texts(given.data, given.seed), *rng.sample(rest, int(KEPT * given.share))]
            rng.shuffle(second)
            write(path + ".second", second)
            write(path + ".third", last(second, given.data, given.seed))


def write(path: str, made: Sequence[Row]) -> None:
    with replacing(path) as file:
        file.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in made)
    kinds = {None: "no place known", True: "marked", False: "clean"}
    counts = Counter((one["origin"], kinds[None if one["spans"] is None else bool(one["spans"])]) for one in made)
    for (origin, kind), n in sorted(counts.items()):
        print(f"{n:6} {kind:14} {origin}")
    print(f"{len(made):6} in all", flush=True)


if __name__ == "__main__":
    main()
