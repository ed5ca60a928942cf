"""What holds for every registered perturbation."""

import dataclasses
import inspect
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.perturb import (
    BUG,
    PERTURBATIONS,
    Perturbations,
    Perturbed,
    apply_edits,
    info,
    perturb,
    perturbation,
)
from nlgauge.testing import check_perturbation
from nlgauge.testing.metric import CONTEXT, FOREIGN, ORDINARY, POOL, REFERENCES, SHORT, TEXTS
from nlgauge.testing.perturbation import fingerprint

NAMES = list(PERTURBATIONS.entries)
OPTIONS = (  # whose texts are made in other ways than by default
    "add_nonsense:source=pool", "antonyms:which=all", "change_attributes:which=all", "change_gender:pronouns=true",
    "change_gender:which=one", "change_names:which=one", "contractions:which=one", "drop_named_entities:which=one",
    "drop_objects:which=all", "drop_objects:which=one", "drop_phrases:mode=phrase", "expansions:which=one",
    "hyponyms:relation=sibling", "mask_and_predict:fraction=0.5", "mismatch_noun:semantic=true",
    "negation:contracted=false", "negation:contracted=true", "negation:mode=add", "negation:mode=remove",
    "nouns_to_pronouns:mode=one", "omission:mode=scattered,fraction=0.1-0.6", "perturb_entities:kind=name",
    "perturb_entities:kind=noun", "perturb_entities:kind=verb", "remove_punctuation:mode=misplace",
    "repeat_sentences:place=any", "subject_verb_disagreement:which=all", "swap_objects:unit=phrase",
)  # fmt: skip
ENGLISH = [name for name in NAMES if "english" in info(name).needs]
BLANKS = [" ", " ", " ", " ", "\n", "\t", "\u00a0", ""]
PIECES = [
    *"The a an big old red well-known man dogs Maria Lopez London he she them it's isn’t won't don't is has was not"
    " never who What How many bus Mary’s couldn't 'd n't { {0} child xsaw three half chase group".split(),
    *"12 1,500 $5 3.5 1990 ten because and or quickly bought running happier ? . , ; ! ( ) “ ” ' ’ - — … # 🚢 ß É и 猫"
    " \x00 \ud800".split(" "),
]
TEXT = st.one_of(
    st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(BLANKS)), max_size=16).map(
        lambda pairs: "".join(a + b for a, b in pairs)
    ),
    st.text(st.characters(), max_size=30),
    st.sampled_from(TEXTS[:40]),
)


def perturbed(name: str, texts: list[str], seed: int = 0, **given) -> Perturbations:
    n = len(texts)
    return perturb(
        name, texts, seed=seed, **{"context": [CONTEXT] * n, "pool": POOL, "references": [REFERENCES] * n, **given}
    )


def test_there_are_templates_and_each_is_named_as_it_is_registered():
    assert len(NAMES) >= 52
    assert [info(name).name for name in NAMES] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_perturbation_keeps_the_contract(name):
    check_perturbation(
        perturbation(name), processes=False
    )  # other processes have a test of their own below, one for all


def test_other_processes_with_other_hashes_give_the_same():
    code = "import sys; from nlgauge.testing.perturbation import fingerprint; print(*map(fingerprint, sys.argv[1:]))"
    here = [fingerprint(name) for name in NAMES]
    env = {**os.environ, "PYTHONHASHSEED": "4242"}
    run = subprocess.run([sys.executable, "-c", code, *NAMES], capture_output=True, text=True, env=env, check=True)
    assert dict(zip(NAMES, run.stdout.split(), strict=True)) == dict(zip(NAMES, here, strict=True))


@given(text=TEXT, seed=st.integers(0, 1000))
def test_whatever_the_text_there_is_another_text_or_a_reason(text, seed):
    for spec in (*NAMES, *OPTIONS):  # a text is analysed once for all of them
        name = spec.partition(":")[0]
        outcome = perturbed(spec, ["A cat sleeps.", text], seed)
        alone = perturbed(spec, [text], seed)
        assert (alone[0], alone.reasons[0]) == (outcome[1], outcome.reasons[1]), spec
        made = alone[0]
        if made is None:
            assert re.fullmatch(r"[a-z][^\n]*", alone.reasons[0]), spec
            assert alone.reasons[0] != BUG, spec
        else:
            assert isinstance(made, Perturbed), spec
            assert made.text == apply_edits(text, made.edits) != text, spec
            assert made.text.strip(), spec
            assert made.original == text, spec
            assert made.perturbation == name, spec
            assert made.expect == info(name).expect, spec
            assert made.seed == seed, spec
            assert alone.reasons[0] is None, spec


def test_english_templates_leave_other_languages_alone():
    outcomes = {name: perturbed(name, list(FOREIGN)) for name in ENGLISH}
    assert [name for name, outcome in outcomes.items() if outcome != [None] * len(FOREIGN)] == []
    assert {reason for outcome in outcomes.values() for reason in outcome.reasons} == {"language"}


def test_a_blank_text_is_left_alone():
    outcomes = {name: perturbed(name, ["", " ", "\n\t\u00a0"]) for name in NAMES}
    assert outcomes == dict.fromkeys(NAMES, [None] * 3)
    assert {name: outcome.reasons for name, outcome in outcomes.items()} == dict.fromkeys(NAMES, ["empty"] * 3)


def test_what_is_needed_and_lacking_is_named():
    texts = [*ORDINARY, *SHORT[2:]]
    for need, reason in {"context": "no context", "pool": "no pool", "references": "no other reference"}.items():
        names = [name for name in NAMES if need in info(name).needs]
        found = {name: set(perturbed(name, texts, **{need: None}).reasons) for name in names}
        assert names
        assert [name for name in names if found[name] != {reason}] == []


def test_every_perturbation_applies_to_some_ordinary_text():
    assert [name for name in NAMES if not any(perturbed(name, list(ORDINARY)))] == []


def test_another_seed_or_id_may_draw_otherwise_and_the_id_is_what_counts():
    text = ORDINARY[1]
    for name in NAMES:
        alone, beside = perturbed(name, [text], ids=["a"]), perturbed(name, ["x", text], ids=["b", "a"])
        assert alone[0] == beside[1], name
        twice = perturbed(name, [text, text])
        assert twice[0] == twice[1], name


def test_every_option_is_explained():
    for name in NAMES:
        cls, _ = PERTURBATIONS.lookup(name)
        docs = [inspect.cleandoc(c.__doc__ or "").partition("Args:")[2] for c in cls.__mro__]  # some are inherited
        explained = set(re.findall(r"^ +([\w, ]+): ", "\n".join(docs), re.MULTILINE))
        explained = {option.strip() for some in explained for option in some.split(",")}
        assert {field.name for field in dataclasses.fields(cls) if field.init} <= explained, name
