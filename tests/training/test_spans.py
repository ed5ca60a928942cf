"""A tiny model learns that "not" is a major error, "a" a minor one, and that without a noun something is missing."""

import itertools
from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)

from safetensors import safe_open

from nlgauge.core.errors import InputError
from nlgauge.models.spans import load_spans
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.recipe import Recipe, Schedule
from nlgauge.training.spans import UNKNOWN, MarkedPair, train_spans


def pairs():
    found = []
    for noun, verb in itertools.product(("cat", "dog", "rain", "snow"), ("sat", "lay", "fell")):
        right = ("the", noun, verb, "on", "the", "mat")
        found += [
            MarkedPair(right, right, (0,) * 6, (0,) * 7),
            MarkedPair(("the", noun, "not", verb), right, (0, 0, 2, 0), (0,) * 5),
            MarkedPair(("a", noun, verb), right, (1, 0, 0), (0,) * 4),
            MarkedPair(("the", verb, "on", "the", "mat"), right, (0,) * 5, (0, 1, 0, 0, 0, 0)),
        ]
    return found


def recipe(tiny_model, kind, epochs=30):
    schedule = Schedule(epochs=epochs, batch_size=16, learning_rate=0.01, seed=3)
    return Recipe(model=str(tiny_model(kind)), rank=4, alpha=8.0, max_tokens=40, schedule=schedule)


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_a_head_learns_and_is_read_as_it_was_trained(tiny_model, tmp_path, kind):
    out, told = tmp_path / "head.safetensors", []
    train_spans(pairs(), out, recipe(tiny_model, kind), Runtime(), about={"name": "tiny"}, tell=told.append)
    assert [line.split()[0] for line in told] == ["48"]
    assert told[0].endswith(" pieces each, 0 cut, in float32")
    judged = load_spans(str(out), "float32", Runtime()).judge([(pair.words, pair.others) for pair in pairs()])
    right = [
        (np.argmax([1 - one.minor - one.major, one.minor, one.major], axis=0) == pair.labels).mean()
        for one, pair in zip(judged, pairs(), strict=True)
    ]
    gaps = [
        ((one.missing > 0.5) == np.array(pair.missing, dtype=bool)).mean()
        for one, pair in zip(judged, pairs(), strict=True)
    ]
    assert np.mean(right) > 0.95
    assert np.mean(gaps) > 0.95
    texts = [(one.text > 0.5) == bool(pair.has_error()) for one, pair in zip(judged, pairs(), strict=True)]
    assert np.mean(texts) > 0.95
    assert [path.name for path in tmp_path.iterdir()] == ["head.safetensors"]  # no checkpoint is left
    with safe_open(str(out), framework="pt") as file:
        about = file.metadata()
    assert about["kind"] == "spans"
    assert about["outputs"] == "none,minor,major,missing"
    assert about["name"] == "tiny"
    assert about["max_tokens"] == "40"


def test_a_text_may_be_known_to_be_faulty_where_no_place_is(tiny_model, tmp_path):
    # The words of faulty texts are unknown, and only the texts themselves are told apart.
    known = [
        MarkedPair(pair.words, pair.others, (UNKNOWN,) * len(pair.words), (UNKNOWN,) * len(pair.missing), True)
        if pair.has_error()
        else pair
        for pair in pairs()
    ]
    out = tmp_path / "head.safetensors"
    train_spans(known, out, recipe(tiny_model, "bert"), Runtime())
    judged = load_spans(str(out), "float32", Runtime()).judge([(pair.words, pair.others) for pair in known])
    right = [(one.text > 0.5) == pair.has_error() for one, pair in zip(judged, known, strict=True)]
    assert np.mean(right) > 0.95
    assert max((one.minor + one.major).max() for one in judged) < 0.5  # no word was ever wrong


def test_what_is_known_of_a_text_follows_from_its_labels():
    def text(labels, missing=(0, 0, 0), faulty=None):
        return MarkedPair(("a", "b"), ("a", "b"), labels, missing, faulty).has_error()

    assert text((0, 0)) == 0
    assert text((0, 1)) == 1
    assert text((0, 0), (0, 1, 0)) == 1
    assert text((UNKNOWN, UNKNOWN)) == UNKNOWN
    assert text((UNKNOWN, 2)) == 1
    assert text((0, 0), (UNKNOWN,) * 3) == UNKNOWN
    assert text((UNKNOWN, UNKNOWN), faulty=True) == 1
    assert text((0, 0), (UNKNOWN,) * 3, faulty=False) == 0


def test_the_same_run_gives_the_same_bytes(tiny_model, tmp_path):
    paths = [tmp_path / f"{name}.safetensors" for name in "ab"]
    for path in paths:
        train_spans(pairs(), path, recipe(tiny_model, "bert", 2), Runtime())
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (MarkedPair(("a", "b"), ("a",), (0,), (0, 0, 0)), "2 words with 1 labels and 3 gaps"),
        (MarkedPair(("a", "b"), ("a",), (0, 0), (0, 0)), "2 words with 2 labels and 2 gaps"),
    ],
)
def test_labels_that_do_not_fit_the_words_are_refused(tiny_model, tmp_path, pair, message):
    with pytest.raises(InputError, match=message):
        train_spans([pair], tmp_path / "head.safetensors", recipe(tiny_model, "bert"), Runtime())


def test_no_pairs_and_no_head_file_are_refused(tiny_model, tmp_path):
    with pytest.raises(InputError, match="no pairs to learn from"):
        train_spans([], tmp_path / "head.safetensors", recipe(tiny_model, "bert"), Runtime())
    with pytest.raises(InputError, match="safetensors"):
        train_spans(pairs(), tmp_path / "head", recipe(tiny_model, "bert"), Runtime())


def test_a_head_goes_on_from_an_earlier_one(tiny_model, tmp_path):
    first, second = (tmp_path / f"{name}.safetensors" for name in "ab")
    train_spans(pairs(), first, recipe(tiny_model, "bert"), Runtime())
    schedule = Schedule(epochs=1, batch_size=48, learning_rate=1e-6)
    short = Recipe(model=str(tiny_model("bert")), rank=4, alpha=8.0, max_tokens=40, schedule=schedule)
    train_spans(pairs(), second, short, Runtime(), init=str(first))
    asked = [(pair.words, pair.others) for pair in pairs()]
    before, after = (load_spans(str(path), "float32", Runtime()).judge(asked) for path in (first, second))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one.major, other.major, atol=0.02)
        np.testing.assert_allclose(one.missing, other.missing, atol=0.02)


def test_a_head_begins_from_what_a_head_of_entailment_learnt(tiny_model, tiny_head, tmp_path):
    out = tmp_path / "head.safetensors"
    train_spans(pairs(), out, recipe(tiny_model, "bert", 1), Runtime(), init=str(tiny_head()))
    assert out.is_file()
    with pytest.raises(InputError, match="stands on another encoder"):
        train_spans(pairs(), out, recipe(tiny_model, "mpnet", 1), Runtime(), init=str(tiny_head()))
