from __future__ import annotations

from nlgauge.perturbations.perturb import make_cases
from nlgauge.testing.texts import CONTEXT, FOREIGN, ODD, ORDINARY, POOL, REFERENCES, SHORT, TEXTS
from nlgauge.text.english.verbs import is_english


def test_every_text_is_there_once():
    assert len(set(TEXTS)) == len(TEXTS) == len(ORDINARY) + len(SHORT) + len(ODD) + len(FOREIGN)


def test_what_perturbations_tend_to_fail_on_is_there():
    assert "" in TEXTS
    assert any(text and not text.strip() for text in TEXTS)
    assert {len(text.split()) for text in SHORT} >= {0, 1, 2}
    assert any("\x00" in text for text in TEXTS)
    assert any("\ud800" <= c <= "\udfff" for text in TEXTS for c in text)
    assert any(ord(c) > 0xFFFF for text in TEXTS for c in text)  # beyond what UTF-16 holds in one unit
    assert any(" " not in text and len(text) > 500 for text in TEXTS)
    assert max(len(text.split()) for text in TEXTS) > 1000
    assert any("’" in text for text in ORDINARY)
    assert any("'" in text for text in ORDINARY)
    assert any(text.isupper() for text in ORDINARY)
    assert any(text.islower() and not text.endswith(".") for text in ORDINARY)
    assert any(text.endswith("?") for text in ORDINARY)
    assert any(blank in text for text in ODD for blank in ("\u00a0", "\t", "\n"))


def test_english_is_told_from_other_languages():
    assert all(is_english(case.doc) for case in make_cases(ORDINARY))
    assert not any(is_english(case.doc) for case in make_cases(FOREIGN))


def test_what_else_a_template_may_need_is_there():
    assert len({turn["speaker"] for turn in CONTEXT}) == 2
    assert len(CONTEXT) > 2
    assert not set(POOL) & set(TEXTS)
    assert not set(REFERENCES) & set(TEXTS)
