"""A language of entailment so small that a tiny model learns it in seconds."""

import itertools
import json
from contextlib import contextmanager

import pytest

NOUNS, PLACES = ("cat", "dog", "rain", "snow"), ("mat", "rug")
VERBS = ("sat", "lay", "fell")


def rows():
    """ "Not" denies, the same words follow, another place is open."""
    for noun, verb, place in itertools.product(NOUNS, VERBS, PLACES):
        premise, other = f"the {noun} {verb} on the {place}", PLACES[1 - PLACES.index(place)]
        yield premise, f"a {noun} {verb}", "entailment"
        yield premise, f"the {noun} not {verb} on the {place}", "contradiction"
        yield premise, f"the {noun} {verb} on a {other} today", "neutral"


def write(path, pairs):
    path.write_text(
        "".join(json.dumps(dict(zip(("premise", "hypothesis", "label"), row, strict=True))) + "\n" for row in pairs)
    )
    return path


@pytest.fixture
def pairs_file(tmp_path):
    return write(tmp_path / "pairs.jsonl", rows())


@contextmanager
def killed_after(steps):
    """A bar that ends the run as a user does, once it stands at this many steps."""
    done = []

    def advance(count):
        done.append(count)
        if sum(done) >= steps:
            raise KeyboardInterrupt

    yield advance
