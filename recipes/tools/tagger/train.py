"""Learn the weights of the part-of-speech tagger from tagged English, and measure it. See README.md beside this file.

python recipes/tools/tagger/train.py FOLDER src/nlgauge/data/language/tagger.json.gz
"""

import gzip
import hashlib
import json
import random
import sys
from collections import Counter
from pathlib import Path

import measure
import numpy as np
from made_up import made_up

from nlgauge.text import tagging
from nlgauge.text.tagging import EDGE, Tagger, Word

LEARNT_FROM = ("ewt.train.jsonl.gz", "ewt.dev.jsonl.gz")
RUNS = 3  # perceptrons whose weights are added up; they see the sentences in different orders
EPOCHS = 6
MADE_UP = 2500  # sentences
LEAST_SEEN = 2  # times a feature must occur
LEAST_WEIGHT = 0.75  # averages over the epochs; smaller ones are dropped
STEPS = 2  # whole numbers for 1 of weight


def read(path):
    print(path.name, "sha256", hashlib.sha256(path.read_bytes()).hexdigest())
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def words_and_tags(row):
    return [(form, tag) for form, _, _, tag, _ in row["tokens"]]


def recased(sentences, rng):
    """The sentences, and some of them once more.

    As captions (no capitals, perhaps no period), in capitals, as titles.
    """
    for sentence in sentences:
        yield sentence
        drawn = rng.random()
        if drawn < 0.15:
            plain = [(word.lower(), tag) for word, tag in sentence]
            if len(plain) > 1 and plain[-1][1] == "." and rng.random() < 0.5:
                plain.pop()
            yield plain
        elif drawn < 0.20:
            yield [(word.upper(), tag) for word, tag in sentence]
        elif drawn < 0.25:
            yield [
                (word[:1].upper() + word[1:] if i == 0 or len(word) > 3 else word, tag)
                for i, (word, tag) in enumerate(sentence)
            ]


def apart_from_tags(sentence):
    """The words, and for each the features that do not hang on earlier tags."""
    texts = [text for text, _ in sentence]
    case = tagging.sentence_case(texts)
    edge = Word(EDGE, case)
    words = [Word(text, case) for text in texts]
    padded = [edge, edge, *words, edge, edge]
    names = []
    for i, (together, asked) in enumerate(tagging.around(words, edge)):
        last, previous, word, following, next_but_one = padded[i : i + 5]
        alone = (
            tagging.own(word)
            + tagging.before(previous)
            + tagging.before2(last)
            + tagging.after(following)
            + tagging.after2(next_but_one)
        )
        names.append(alone + together + [name for of, about in asked for name in of(*about)])
    return words, names


def on_tags(second, first, word, finite):
    kind = tagging.tag_and_kind(first, word.shape, word.known, word.lower[-2:], finite)
    return [*tagging.tags(second, first), tagging.tag_and_word(first, word.lower), *kind]


def learn(sentences, seed):
    """Features, tags and averaged weights, shape (features, tags).

    Whole-number updates, so that any machine finds the same.
    """
    tags = sorted({tag for sentence in sentences for _, tag in sentence})
    place = {tag: i for i, tag in enumerate(tags)}
    read_in = [apart_from_tags(sentence) for sentence in sentences]
    seen = Counter()
    for sentence, (words, names) in zip(sentences, read_in, strict=True):
        history = [EDGE, EDGE, *(tag for _, tag in sentence)]
        finite = False
        for i, word in enumerate(words):
            seen.update(names[i])
            seen.update(on_tags(*history[i : i + 2], word, finite))
            finite = tagging.has_finite(finite, word, sentence[i][1])
    row = {name: i for i, name in enumerate(name for name, times in seen.items() if times >= LEAST_SEEN)}
    data = []
    for sentence, (words, names) in zip(sentences, read_in, strict=True):
        fixed = [np.array([row[name] for name in each if name in row], np.int32) for each in names]
        data.append((words, fixed, [place[tag] for _, tag in sentence]))
    del read_in, seen

    totals = np.zeros((len(row), len(tags)))
    for run in range(RUNS):
        rng = random.Random(f"{seed} {run}")
        weights = np.zeros((len(row), len(tags)), np.int32)
        since = np.zeros((len(row), len(tags)), np.int64)  # updates, each times when it came: what averages lack
        order = list(range(len(data)))
        clock = 1
        for epoch in range(EPOCHS):
            rng.shuffle(order)
            wrong = asked = 0
            for j in order:
                words, fixed, gold = data[j]
                second = first = EDGE
                finite = False
                for word, rows, right in zip(words, fixed, gold, strict=True):
                    late = [row[name] for name in on_tags(second, first, word, finite) if name in row]
                    rows = np.concatenate((rows, np.array(late, np.int32)))
                    found = int(weights[rows].sum(axis=0).argmax())
                    if found != right:
                        weights[rows, right] += 1
                        weights[rows, found] -= 1
                        since[rows, right] += clock
                        since[rows, found] -= clock
                        wrong += 1
                    clock += 1
                    second, first = first, tags[found]
                    finite = tagging.has_finite(finite, word, first)
                asked += len(gold)
            print(f"run {run} epoch {epoch}: {wrong / asked:.2%} wrong while learning", flush=True)
        totals += weights - since / clock
    return list(row), tags, totals / RUNS


def pack(names, tags, weights):
    whole = np.where(np.abs(weights) < LEAST_WEIGHT, 0, np.rint(weights * STEPS)).astype(int)
    kept = sorted(np.flatnonzero(whole.any(axis=1)), key=names.__getitem__)
    whole = whole[kept]
    rows, places = np.nonzero(whole)
    model = {
        "tags": tags,
        "features": [names[i] for i in kept],
        "counts": np.bincount(rows, minlength=len(kept)).tolist(),
        "places": places.tolist(),
        "weights": whole[rows, places].tolist(),
    }
    return json.dumps(model, ensure_ascii=False, separators=(",", ":")).encode()


def main(folder, target):
    rows = [row for name in LEARNT_FROM for row in read(Path(folder, name))]
    plain = [*map(words_and_tags, rows), *made_up(rows, MADE_UP, random.Random("made up"))]
    sentences = list(recased(plain, random.Random("cases")))
    packed = pack(*learn(sentences, "0"))
    with (
        open(target, "wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as file,
    ):  # no name and no time: the same bytes every time
        file.write(packed)
    print(target, "sha256 of its content", hashlib.sha256(packed).hexdigest())
    for name in measure.MEASURED_ON:
        rows, tag = read(Path(folder, name)), Tagger(packed).tag
        print(
            f"{name}: {measure.tags(rows, tag):.2%} of the treebank's words; words and tags, F1"
            f" {measure.words_and_tags(rows, tag):.2%}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
