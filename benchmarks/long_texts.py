"""Time of every perturbation, text function and counting metric on hostile texts of 100,000 characters.

    python benchmarks/long_texts.py                        everything, an hour or two on one core
    python benchmarks/long_texts.py --characters 20000     a first look
    python benchmarks/long_texts.py --only drop_adjectives --only ter

It prints what takes more than a tenth of the limit, or fails, and ends with status 1 if anything takes longer than the
limit (10 seconds). Whatever is registered is tried, with its default options.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nlgauge.core.segment import Segment
from nlgauge.metrics.registry import METRICS
from nlgauge.perturbations.perturb import PERTURBATIONS, Turn, make_cases, perturbation
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing.metric import POOL
from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.words import parse_words
from nlgauge.text.porter import stem
from nlgauge.text.tagging import tag
from nlgauge.text.tokenize import (
    letter_spans,
    rouge_words,
    sentence_spans,
    split_sentences,
    unicode_words,
    unit_spans,
    word_spans,
)

LIMIT = 10.0  # seconds
# Units that are repeated up to the length asked for.
UNITS: Mapping[str, str] = {
    "one letter": "a",
    "one capital": "A",
    "one digit": "7",
    "blanks": " ",
    "line feeds": "\n",
    "full stops": ".",
    "full stops apart": ". ",
    "commas": ",",
    "commas apart": ", ",
    "hyphens": "-",
    "hyphenated": "well-",
    "apostrophes": "'",
    "clitics": "n't",
    "possessives": "'s ",
    "quotes": '"',
    "quotes apart": '" ',
    "curly quotes": "“a” ",
    "open brackets": "(",
    "brackets": "()",
    "nested brackets": "([{",
    "question marks": "? ",
    "dots of an ellipsis": "... ",
    "slashes": "a/",
    "at signs": "a@",
    "underscores": "_",
    "numbers": "12 ",
    "decimals": "1.",
    "thousands": "1,000,",
    "number words": "twenty-one thousand ",
    "ordinals": "third of the first ",
    "dates": "4 May 2019, ",
    "money": "$5 ",
    "one word": "dog ",
    "letters apart": "a ",
    "one adjective": "red ",
    "adjectives and commas": "red, ",
    "adjectives and and": "red and ",
    "adverbs": "very ",
    "compounds": "well-known ",
    "negations": "not ",
    "negated verbs": "don't ",
    "auxiliaries": "is ",
    "conjunctions": "and ",
    "prepositions": "of the ",
    "pronouns": "he she ",
    "names": "John ",
    "names in a row": "Maria Lopez, ",
    "places": "Berlin, London, ",
    "titles": "Dr. ",
    "abbreviations": "U.S. ",
    "because": "because it rained ",
    "questions": "Who is it? ",
    "question without end": "who is the man who is ",
    "that that": "he said that ",
    "commas and clauses": "he came, ",
    "sentences": "The old dog sleeps. ",
    "one sentence": "the old dog and the small cat sleep near the river ",
    "lists": "a cat, two dogs and three birds; ",
    "relative clauses": "the man who saw ",
    "contractions": "I'll we've they're ",
    "initials": "J. ",
    "capitals": "POLICE ",
    "emoji": "🚢",
    "emoji joined": "👩‍👩‍👧‍👦 ",
    "combining marks": "a\u0301",
    "marks alone": "\u0301",
    "Han": "猫",
    "kana": "カタ",
    "Thai": "สุนัข",
    "Hangul": "고양이 ",
    "Arabic": "الكلب ",
    "Cyrillic": "собака ",
    "mixed scripts": "a猫б ",
    "fullwidth": "ａ１",
    "entities": "&amp;",
    "tags": "<b>",
    "addresses": "www.example.org/a?b=1&",
    "mail": "a@b.c ",
    "zeros": "\x00",
    "surrogates": "\ud800",
    "soft hyphens": "\u00ad",
    "zero width": "\u200b",
}
FUNCTIONS = (rouge_words, unicode_words, split_sentences, word_spans, sentence_spans, letter_spans, unit_spans,
             find_numbers, parse_words, stem, tag)  # fmt: skip


class TooLong(Exception):
    """The limit has passed."""


def texts(characters: int) -> Iterator[tuple[str, str]]:
    """Each hostile text with its name."""
    for name, unit in UNITS.items():
        yield name, (unit * (characters // len(unit) + 1))[:characters]
    rng = random.Random(0)
    known = "the a old red dog cat man said that is not because and of he she John 12 very who came , .".split()
    for name, vocabulary in {
        "random known words": known,
        "random distinct words": [f"w{i}" for i in range(characters)],
        "random characters": None,
    }.items():
        if vocabulary is None:
            yield name, "".join(chr(rng.randrange(0x20, 0x3000)) for _ in range(characters))
        else:
            yield name, " ".join(rng.choices(vocabulary, k=characters))[:characters]


def calls(text: str, only: list[str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Everything that is tried on a text, with its name."""

    def is_wanted(name: str) -> bool:
        return f"-{name}" not in only and (name in only or all(other.startswith("-") for other in only))

    for function in FUNCTIONS:
        if is_wanted(function.__name__):
            given = text.split() if function is tag else text
            yield function.__name__, lambda function=function, given=given: list(function(given) or ())
    shuffled = text.split()
    random.Random(0).shuffle(shuffled)
    pairs = {"shuffled": (text, " ".join(shuffled)), "backwards": (text, text[::-1]), "short": (POOL[0], text)}
    for name in METRICS.names():
        kind, fixed = METRICS.lookup(name)
        if kind.info.cached or name == "scores" or not is_wanted(name):
            continue
        for options in _variants(name):
            try:
                metric = kind(**fixed, **options)
            except TypeError:  # a metric that needs an option, such as a program of yours
                continue
            for what, (hypothesis, reference) in pairs.items():
                shown = ",".join(f"{key}={value}" for key, value in options.items())
                table = (("name", hypothesis), ("area", POOL[1]))
                rows = [
                    Segment("a", hypothesis, (reference,), source=reference, table=table),
                    Segment("b", POOL[1], (POOL[2],), table=table[1:]),
                ]
                yield f"{name}:{shown} ({what})", lambda metric=metric, rows=rows: metric.score(rows, Runtime())
    wanted = [name for name in PERTURBATIONS.names() if is_wanted(name)]
    if not wanted:
        return
    case: list[Any] = []
    turns = [[Turn("Ann", POOL[0]), Turn("Bob", text)]]
    made = [{"speaker": turn.speaker, "text": turn.text} for turn in turns[0]]
    yield "analysis", lambda: case.extend(make_cases([text], ids=["a"], context=[made], pool=[*POOL, text],
                                                     references=[[text[::-1], POOL[0]]]))  # fmt: skip
    for name in wanted:
        built = perturbation(name)
        yield name, lambda built=built, name=name: case and built(case[0], random.Random(name))


def _variants(name: str) -> list[dict[str, Any]]:
    if name == "bleu":
        return [{"tokenize": one} for one in ("none", "zh", "13a", "intl", "char")]
    if name == "ter":
        return [{}, {"normalized": True, "asian_support": True}, {"no_punct": True, "asian_support": True}]
    return [{}]


def seconds(call: Callable[[], Any], limit: float) -> tuple[float, str]:
    """How long a call takes in seconds of a core, and what it raises."""

    def stop(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    start, said = time.process_time(), ""
    try:
        call()
    except TooLong:
        said = "stopped"
    except Exception as error:  # whatever a perturbation of English says of a text that is none
        said = f"{type(error).__name__}: {error}"[:100]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - start, said


def main() -> int:
    """Try everything on every text, each text in a process of its own, and print what is slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--characters", type=int, default=100_000)
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument(
        "--only", action="append", default=[], help="a perturbation, function or metric; -NAME leaves one out"
    )
    parser.add_argument("--text", action="append", default=[], help="the name of a text")
    given = parser.parse_args()
    failed = False
    for name, text in texts(given.characters):
        if given.text and name not in given.text:
            continue
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            slow, worst = False, (0.0, "")
            for what, call in calls(text, given.only):
                took, said = seconds(call, given.limit)
                slow |= said == "stopped" or took > given.limit
                worst = max(worst, (took, what))
                if said or took > given.limit / 10:
                    print(f"{name:24s} {what:32s} {took:7.2f} s  {said}", flush=True)
            print(f"{name:24s} slowest: {worst[1]}, {worst[0]:.2f} s", flush=True)
            os._exit(int(slow))
        failed |= os.waitpid(child, 0)[1] != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
