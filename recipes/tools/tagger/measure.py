"""How well the tokeniser, the sentence splitter and the tagger agree with tagged English, and how fast they are.

python recipes/tools/tagger/measure.py FOLDER
"""

import gzip
import json
import sys
import time
from pathlib import Path

from nlgauge.text.tagging import tag
from nlgauge.text.tokenize import sentence_spans, word_spans

MEASURED_ON = ("ewt.test.jsonl.gz", "pud.test.jsonl.gz")


def gold_spans(row):
    """Offsets of the treebank's words in their text, each with its tag."""
    spans, end = {}, 0
    for form, _, _, its_tag, _ in row["tokens"]:
        start = row["text"].index(form, end)
        end = start + len(form)
        spans[start, end] = its_tag
    return spans


def words(rows):
    """F1 of spans of words."""
    agreed = ours = theirs = 0
    for row in rows:
        gold, found = gold_spans(row), word_spans(row["text"])
        agreed, ours, theirs = agreed + sum(span in gold for span in found), ours + len(found), theirs + len(gold)
    return 2 * agreed / (ours + theirs)


def tags(rows, tag=tag, recase=str):
    """Share of words tagged as the treebank does, given its words."""
    right = asked = 0
    for row in rows:
        found = tag([recase(form) for form, *_ in row["tokens"]])
        right += sum(mine == theirs for mine, (_, _, _, theirs, _) in zip(found, row["tokens"], strict=True))
        asked += len(found)
    return right / asked


def words_and_tags(rows, tag=tag):
    """F1 of spans with tags: a word counts when both its ends and its tag are the treebank's."""
    agreed = ours = theirs = 0
    for row in rows:
        gold, found = gold_spans(row), word_spans(row["text"])
        agreed += sum(
            gold.get(span) == mine for span, mine in zip(found, tag([row["text"][a:b] for a, b in found]), strict=True)
        )
        ours, theirs = ours + len(found), theirs + len(gold)
    return 2 * agreed / (ours + theirs)


def boundaries(rows, together=5):
    """F1 of the ends of sentences but the last, several sentences joined by blanks."""
    agreed = ours = theirs = 0
    for first in range(0, len(rows), together):
        texts = [row["text"].strip() for row in rows[first : first + together]]
        gold = {len(" ".join(texts[:i])) for i in range(1, len(texts))}
        found = {end for _, end in sentence_spans(" ".join(texts))} - {len(" ".join(texts))}
        agreed, ours, theirs = agreed + len(gold & found), ours + len(found), theirs + len(gold)
    return 2 * agreed / (ours + theirs)


def rate(work, rows):
    start = time.process_time()
    for row in rows:
        work(row)
    return len(rows) / (time.process_time() - start)


def main(folder):
    for name in MEASURED_ON:
        with gzip.open(Path(folder, name), "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        print(name)
        print(
            f"  words: F1 {words(rows):.4f}; {rate(lambda row: word_spans(row['text']), rows):,.0f} sentences a second"
            " of one core"
        )
        seconds = time.process_time()
        tag(["a"])
        seconds = time.process_time() - seconds
        forms = {"as written": str, "in small letters": str.lower, "in capitals": str.upper}
        fast = rate(lambda row: tag([form for form, *_ in row["tokens"]]), rows)
        print("  tags:", ", ".join(f"{tags(rows, recase=recase):.2%} {how}" for how, recase in forms.items()))
        print(f"  tags: first call {seconds:.2f} s, then {fast:,.0f} sentences a second of one core")
        print(f"  words and tags: F1 {words_and_tags(rows):.4f}")
        if name.startswith("pud"):  # whose sentences are taken from running text with full stops
            print(f"  ends of sentences, five together: F1 {boundaries(rows):.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
